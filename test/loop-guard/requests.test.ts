import test from 'ava'
import { chat } from '../support/chat-bodies.ts'
import { logLineOf } from '../support/door.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http-client.ts'
import { type JsonObject, valueAt } from '../support/json.ts'
import { chatMessagesOf, inputOf, type LoopStep, messagesOf, SAME } from '../support/looping.ts'
import { MODELS, openProviderFixture, type ProviderName, type ProviderScenario } from '../support/provider-fixture.ts'

const fixture = await openProviderFixture({ env: { SVC_PIPELINE: 'loop-guard' }, config: { providers: { tries: 1 } } })
test.after.always(() => fixture.close())

const LOOP = [SAME, SAME, SAME]
const REFUSE = { 'x-svc-pipe': 'loop-guard?mode=refuse' }

interface Door {
  readonly path: string
  readonly provider: ProviderName
  body(steps: readonly LoopStep[], task: string): JsonObject
}

const DOORS: Readonly<Record<string, Door>> = {
  messages: {
    path: '/v1/messages',
    provider: 'anthropic',
    body: (steps, task) => ({ model: MODELS.anthropic, max_tokens: 100, messages: messagesOf(steps, task) }),
  },
  chat: {
    path: '/v1/chat/completions',
    provider: 'openai',
    body: (steps, task) => ({ ...chat(task, { model: MODELS.openai }), messages: chatMessagesOf(steps, task) }),
  },
  responses: {
    path: '/v1/responses',
    provider: 'responder',
    body: (steps, task) => ({ model: MODELS.responder, store: false, input: inputOf(steps, task) }),
  },
}

const calls = (scenario: ProviderScenario) =>
  (Object.keys(MODELS) as ProviderName[]).reduce((sum, name) => sum + scenario.seen(name).length, 0)

for (const [dialect, { path, provider, body }] of Object.entries(DOORS)) {
  for (const stream of [false, true]) {
    const kind = `${dialect}, ${stream ? 'a stream' : 'JSON'}`

    test(`loop-guard: a conversation that repeats itself goes on with a header (${kind})`, async (t) => {
      const scenario = fixture.scenario()
      const before = await scenario.send({ path, body: { ...body(LOOP.slice(1), t.title), stream } })
      t.is(before.status, 200, before.text)
      t.is(before.headers['x-svc-loop'], undefined)
      t.regex(String(before.headers['x-svc-idle']), /loop-guard="nothing repeats"/)
      const reply = await scenario.send({ path, body: { ...body(LOOP, t.title), stream } })
      t.is(reply.status, 200, reply.text)
      t.is(reply.headers['x-svc-loop'], 'kind=call; times=3; states=1')
      t.is(scenario.seen(provider).length, 2)
    })

    test(`loop-guard: if set, it is refused in words that name what repeats (${kind})`, async (t) => {
      const scenario = fixture.scenario()
      const reply = await scenario.send({ path, body: { ...body(LOOP, t.title), stream }, headers: REFUSE })
      t.is(reply.status, 400, reply.text)
      t.is(reply.headers['x-should-retry'], 'false')
      t.is(reply.headers['x-svc-loop'], 'kind=call; times=3; states=1')
      const message = String(valueAt(reply.json, 'error.message'))
      t.regex(
        message,
        /^conversation_repeats: This conversation repeats itself: `Bash` was called 3 times with the same/,
      )
      t.regex(message, /new message of the user/)
      t.is(calls(scenario), 0)
    })
  }
}

test('loop-guard: a refusal ends with a new message of the user, or another step, and not with a retry', async (t) => {
  const scenario = fixture.scenario()
  const ask = async (messages: JsonObject[]) => {
    const body = { model: MODELS.anthropic, max_tokens: 100, messages }
    return (await scenario.send({ body, headers: REFUSE })).status
  }
  const looping = messagesOf(LOOP, t.title)
  t.deepEqual([await ask(looping), await ask(looping)], [400, 400])
  t.is(await ask([...looping, { role: 'user', content: 'Look into the lock file.' }]), 200)
  const other = { input: { command: 'cat package-lock.json' }, result: '{"name":"app"}' }
  t.is(await ask(messagesOf([...LOOP, other], t.title)), 200)
})

test('loop-guard: the row has the figures, and that of a refusal its reason', async (t) => {
  const scenario = fixture.scenario()
  const body = { model: MODELS.anthropic, max_tokens: 100, messages: messagesOf(LOOP, t.title) }
  const noted = await rowOf(String((await scenario.send({ body })).headers['x-svc-receipt']))
  t.like(stepOf(noted), { action: 'repeats', details: { kind: 'call', times: 3, states: 1, tools: ['Bash'] } })
  t.true(Number(valueAt(stepOf(noted), 'details.repeatedBytes')) > 100)
  const refusal = await scenario.send({ body, headers: REFUSE })
  const refused = await rowOf(String(refusal.headers['x-svc-receipt']))
  t.is(stepOf(refused)?.action, 'refused')
  t.true(JSON.stringify(refused).includes('conversation_repeats'))
  t.true(JSON.stringify(await logLineOf(fixture.gateway, refusal)).includes('loop-guard:refused'))
})

async function rowOf(id: string): Promise<JsonObject> {
  const find = () => send(fixture.gateway.url, { method: 'GET', path: `/dashboard/api/requests/${id}` })
  await eventually(async () => (await find()).status === 200, 'a row')
  return (await find()).json as JsonObject
}

function stepOf(row: JsonObject): JsonObject | undefined {
  const steps = valueAt(row, 'request.trace.steps') as JsonObject[]
  return steps.find(({ module }) => module === 'loop-guard')
}

for (const pipe of [
  'loop-guard,prune-tools,compress',
  'prune-tools,compress?elide=pressure&max_context=4000&keep=0,loop-guard',
]) {
  test(`loop-guard: it reads what the client sent, wherever other modules shorten it (${pipe})`, async (t) => {
    const scenario = fixture.scenario()
    const long = {
      ...SAME,
      result: Array.from({ length: 300 }, (_, i) => `✔ test ${i} of the queue passes`).join('\n'),
    }
    for (const steps of [[long], [long, long], [long, long, long]]) {
      const body = { model: MODELS.anthropic, max_tokens: 100, messages: messagesOf(steps, t.title) }
      const reply = await scenario.send({ body, headers: { 'x-svc-pipe': pipe } })
      t.is(reply.status, 200, reply.text)
      t.is(reply.headers['x-svc-loop'], steps.length === 3 ? 'kind=call; times=3; states=1' : undefined)
    }
    t.true((scenario.seen('anthropic').at(-1)?.raw.length ?? 0) < 2 * long.result.length)
  })
}

test('loop-guard: a cache behind it answers with the header, and one in front without; refusals are not stored', async (t) => {
  const scenario = fixture.scenario()
  const body = { model: MODELS.anthropic, max_tokens: 100, temperature: 0.5, messages: messagesOf(LOOP, t.title) }
  const ask = async (pipe: string) => {
    const { status, headers } = await scenario.send({ body, headers: { 'x-svc-pipe': pipe } })
    // Attached: where another gateway of several is still storing the reply.
    const cache = headers['x-svc-cache'] === 'attached' ? 'hit' : headers['x-svc-cache']
    return [status, cache, headers['x-svc-loop'] !== undefined]
  }
  t.deepEqual(await ask('exact-cache,loop-guard?mode=refuse'), [400, 'miss', true])
  t.deepEqual(await ask('loop-guard,exact-cache'), [200, 'miss', true])
  t.deepEqual(await ask('loop-guard,exact-cache'), [200, 'hit', true])
  t.deepEqual(await ask('exact-cache,loop-guard'), [200, 'miss', true])
  t.deepEqual(await ask('exact-cache,loop-guard'), [200, 'hit', false])
  t.deepEqual(await ask('exact-cache,loop-guard?mode=refuse'), [400, 'miss', true])
  t.deepEqual(await ask('loop-guard?mode=refuse,exact-cache'), [400, undefined, true])
  t.is(calls(scenario), 2)
})

test('loop-guard: a body with deep arguments is served', async (t) => {
  let deep: JsonObject = { end: 1 }
  for (let depth = 0; depth < 200; depth++) deep = { deep }
  const steps = LOOP.map((step) => ({ ...step, input: { deep } }))
  const body = { model: MODELS.anthropic, max_tokens: 100, messages: messagesOf(steps, t.title) }
  const reply = await fixture.scenario().send({ body })
  t.is(reply.status, 200, reply.text)
  t.is(reply.headers['x-svc-loop'], 'kind=call; times=3; states=1')
})
