import test from 'ava'
import { bearer, CLOUD, createKey } from '../support/accounts.ts'
import { eventually } from '../support/cache-fixture.ts'
import type { Scenario } from '../support/fixture.ts'
import { ask } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { openPluginFixture } from '../support/plugin-fixture.ts'
import { pluginSource } from '../support/plugin-folders.ts'

/** Counts the requests of a group in front of the cache. */
const counted = pluginSource('counted', {
  run: `const group = exchange.headers['x-group']
    globalThis.arrived ??= new Map()
    globalThis.arrived.set(group, (globalThis.arrived.get(group) ?? 0) + 1)
    await next()`,
})
/** Waits behind the cache until the whole group has come, so that all others have joined before the guard decides. */
const slow = pluginSource('slow', {
  run: `const { 'x-group': group, 'x-group-size': size } = exchange.headers
    while (globalThis.arrived.get(group) < Number(size)) await new Promise((resolve) => setTimeout(resolve, 5))
    await next()`,
})
/** Adds a header to the reply, as a plugin before the cache may do for its own caller. */
const marks = pluginSource('marks', {
  run: `await next(); const mark = exchange.headers['x-mark']; if (mark) exchange.reply.headers['x-svc-mark'] = mark`,
})
const fixture = await openPluginFixture(
  { 'counted/index.ts': counted, 'slow/index.ts': slow, 'marks/index.ts': marks },
  {
    provider: { acceptAnything: true },
    env: { ...CLOUD, SVC_COST_PER_DAY: '100' },
    config: { providers: { tries: 1, forward_headers: ['x-tenant'] }, plugins: { watch: false } },
  },
)
test.after.always(() => fixture.close())

const PIPE = 'counted,exact-cache?scope=user,slow,cost-guard'
const TINY_USD = 0.000001

let groups = 0
/** Sends the same body for each of these headers, one after another in the order of the gateway's reading. */
async function askAll(scenario: Scenario, body: object, all: readonly Record<string, string>[]) {
  const replies = []
  const group = { 'x-group': `group-${groups++}`, 'x-group-size': String(all.length) }
  for (const headers of all) {
    const sent = Promise.withResolvers<void>()
    replies.push(
      scenario.send({ body: { ...body }, headers: { 'x-svc-pipe': PIPE, ...group, ...headers }, onSent: sent.resolve }),
    )
    await sent.promise
    await scenario.send({ method: 'GET', path: '/health' })
  }
  return Promise.all(replies)
}

for (const stream of [false, true]) {
  test(`leader's own: a cap of the leading caller is not the next one’s, stream ${stream}`, async (t) => {
    const user = `capped-${stream}`
    const capped = await createKey(fixture.gateway, user, { limits: { costPerDay: TINY_USD } })
    const free = await createKey(fixture.gateway, user)
    const scenario = fixture.scenario()
    const all = [capped, free, free].map(({ key }) => bearer(key))
    const replies = await askAll(scenario, ask(t.title, { stream }), all)
    t.deepEqual(
      replies.map(({ status }) => status),
      [429, 200, 200],
    )
    // The remaining callers share one call.
    t.is(scenario.seen().length, 1)
    t.false(replies.slice(1).some(({ text }) => text.includes('cost_limit')))
  })
}

test("leader's own: a failure of the provider is that of all callers, after one call", async (t) => {
  const { key } = await createKey(fixture.gateway, 'failing')
  const scenario = fixture.scenario({ kind: 'error', status: 500 })
  const replies = await askAll(scenario, ask(t.title), [bearer(key), bearer(key)])
  t.deepEqual(
    replies.map(({ status }) => status),
    [502, 502],
  )
  t.is(scenario.seen().length, 1)
})

const OWN = { good: 'sk-good-key-of-an-account', bad: 'sk-bad-key-of-an-account' }

test("leader's own: a provider key that is refused is not another's, and accounts share no answer", async (t) => {
  const { key } = await createKey(fixture.gateway, 'with-accounts')
  const scenario = fixture.scenario(({ headers }) =>
    headers['x-api-key'] === OWN.bad ? { kind: 'error', status: 401 } : undefined,
  )
  const all = [OWN.bad, OWN.good, OWN.good].map((own) => ({ ...bearer(key), 'x-provider-key': own }))
  const body = ask(t.title)
  const replies = await askAll(scenario, body, all)
  t.deepEqual(
    replies.map(({ status }) => status),
    [401, 200, 200],
  )
  t.is(scenario.seen().length, 2)
  const [operators] = await askAll(scenario, body, [bearer(key)])
  t.not(valueAt(operators?.json, 'id'), undefined)
  t.is(scenario.seen().length, 3, 'the operator’s account does not answer with that of a caller')
})

test("leader's own: a header that the operator lets through distinguishes requests", async (t) => {
  const { key } = await createKey(fixture.gateway, 'tenants')
  const scenario = fixture.scenario()
  const all = ['one', 'two', 'two'].map((tenant) => ({ ...bearer(key), 'x-tenant': tenant }))
  await askAll(scenario, ask(t.title), all)
  t.deepEqual(
    scenario
      .seen()
      .map(({ headers }) => headers['x-tenant'])
      .sort(),
    ['one', 'two'],
  )
})

for (const cache of ['exact-cache', 'semantic-cache'])
  for (const stream of [false, true])
    test(`leader's own: a header that a plugin before ${cache} adds is not stored with the reply, stream ${stream}`, async (t) => {
      const { key } = await createKey(fixture.gateway, `marked-${cache}-${stream}`)
      const scenario = fixture.scenario()
      const send = (mark: Record<string, string>) =>
        scenario.send({
          body: ask(t.title, { stream }),
          headers: { ...bearer(key), 'x-svc-pipe': `marks,${cache}`, ...mark },
        })
      const marked = { 'x-mark': 'one' }
      t.is((await send(marked)).headers['x-svc-mark'], 'one')
      // The reply is out before it is stored; until then each request asks the provider, and all of them are marked.
      await eventually(
        () => send(marked),
        ({ headers }) => headers['x-svc-cache'] === 'hit',
      )
      const asked = scenario.seen().length
      const { headers } = await send({})
      t.is(headers['x-svc-cache'], 'hit')
      t.is(headers['x-svc-mark'], undefined)
      t.is(scenario.seen().length, asked)
    })

for (const stream of [false, true])
  test(`leader's own: who joins gets none of the headers that a plugin adds for the leader, stream ${stream}`, async (t) => {
    const { key } = await createKey(fixture.gateway, `joined-${stream}`)
    const scenario = fixture.scenario({ kind: 'error', status: 400 })
    const pipe = { 'x-svc-pipe': 'counted,marks,exact-cache,slow' }
    const all = [{ 'x-mark': 'one' }, {}, { 'x-mark': 'three' }].map((mark) => ({ ...bearer(key), ...pipe, ...mark }))
    const replies = await askAll(scenario, ask(t.title, { stream }), all)
    t.deepEqual(
      replies.map(({ headers }) => headers['x-svc-mark']),
      ['one', undefined, 'three'],
    )
    t.is(scenario.seen().length, 1)
  })

for (const stream of [false, true])
  for (const joins of [false, true])
    test(`leader's own: an answer that its cap cuts is no other caller’s, stream ${stream}, joins ${joins}`, async (t) => {
      const user = `cut-${stream}-${joins}`
      const capped = await createKey(fixture.gateway, user, { limits: { costPerRequest: 0.002 } })
      const free = await createKey(fixture.gateway, user)
      const scenario = fixture.scenario(({ json }) => {
        const most = Number(json?.max_tokens)
        const isCut = most < 4096
        const outputTokens = isCut ? most : 1500
        const text = 'word '.repeat(outputTokens)
        return {
          kind: 'answer',
          text,
          stopReason: isCut ? 'max_tokens' : 'end_turn',
          usage: { output_tokens: outputTokens },
        }
      })
      const body = ask(t.title, { stream, max_tokens: 4096, model: 'claude-sonnet-4-5' })
      const all = [capped, free, free].map(({ key }) => bearer(key))
      const replies = joins ? await askAll(scenario, body, all) : []
      if (!joins) for (const one of all) replies.push(...(await askAll(scenario, body, [one])))
      const reasons = replies.map(({ text }) => /"stop_reason":"(\w+)"/.exec(text)?.[1])
      t.deepEqual(reasons, ['max_tokens', 'end_turn', 'end_turn'])
      t.is(scenario.seen().length, 2)
    })
