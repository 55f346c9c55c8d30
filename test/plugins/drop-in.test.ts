import test from 'ava'
import { eventually } from '../support/eventually.ts'
import { ask } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { openPluginFixture } from '../support/plugin-fixture.ts'
import { pluginSource } from '../support/plugin-folders.ts'

const BODY = '{ "model":"claude-sonnet-4-5","max_tokens":100, "messages":[{"role":"user","content":"h\\u0069 1.0"}] }'
const CHANGE = `exchange.edit({ op: 'replace', path: ['messages', 0, 'content'], value: 'changed' })`
const WORD = { options: 'word: z.string().default("pong")', perRequest: ['word'] }

const fixture = await openPluginFixture(
  {
    'worded/index.ts': pluginSource('worded', { ...WORD, run: `ctx.set('x-word', o.word); await next()` }),
    'thrower/index.ts': pluginSource('thrower', { run: `throw new Error('boom')` }),
    'abrupt/index.ts': pluginSource('abrupt').replace(
      /async \(ctx, next\) => \{[\s\S]*?\n {6}\},/,
      `() => { throw new Error('boom') },`,
    ),
    'guard/index.ts': pluginSource('guard', { onError: 'refuse', run: `throw new Error('boom')` }),
    'unmade/index.ts': pluginSource('unmade').replace(
      '(o) => async',
      `(o) => { throw new Error('boom') }, other: () => async`,
    ),
    'broken/index.ts': 'export default { this is not TypeScript',
    'editor/index.ts': pluginSource('editor', { run: `${CHANGE}; await next()` }),
    'clumsy/index.ts': pluginSource('clumsy', { run: `ctx.set('x-clumsy', '1'); ${CHANGE}; throw new Error('boom')` }),
    'hanging/index.ts': pluginSource('hanging', {
      run: `ctx.set('x-hanging', '1'); ${CHANGE}; await new Promise(() => {})`,
    }),
    'waking/index.ts': pluginSource('waking', {
      needs: ['log'],
      run: `await new Promise((resolve) => setTimeout(resolve, 300))
      try { ${CHANGE} } catch (error) { services.log.info({ told: error.message }, 'waking.refused') }
      await next()`,
    }),
    'stuck-guard/index.ts': pluginSource('stuck-guard', { onError: 'refuse', run: 'await new Promise(() => {})' }),
    'koa-answer/index.ts': pluginSource('koa-answer', { run: `ctx.status = 201; ctx.body = { from: 'koa' }` }),
    'plain-koa/index.ts': pluginSource('plain-koa', { run: `ctx.body = { from: 'plain' }` }),
    'half-json/index.ts': pluginSource('half-json', { run: `ctx.body = { from: 'half' }; throw new Error('boom')` }),
    'half-koa/index.ts': pluginSource('half-koa', {
      run: `ctx.status = 418; ctx.body = 'half'; throw new Error('boom')`,
    }),
    'answer/index.ts': pluginSource('answer', {
      run: `exchange.reply = jsonReply({ from: 'reply' }, { status: 202, headers: { 'x-own': '1' } })`,
    }),
    'idle/index.ts': pluginSource('idle', { run: '' }),
    'rescue/index.ts': pluginSource('rescue', {
      run: `try { await next() } catch (error) { exchange.reply = jsonReply({ rescued: error.code }) }`,
    }),
    'refusal/index.ts': pluginSource('refusal', {
      run: `throw new GatewayError('permission_error', 'Not on a Sunday.')`,
    }),
    'late/index.ts': pluginSource('late', { run: `await next(); throw new Error('boom')` }),
    'late-answer/index.ts': pluginSource('late-answer', {
      run: `await next(); ctx.body = { late: 1 }; exchange.reply = jsonReply({ late: 2 }); throw new Error('boom')`,
    }),
    'late-guard/index.ts': pluginSource('late-guard', {
      onError: 'refuse',
      run: `await next(); throw new Error('boom')`,
    }),
    'logging/index.ts': pluginSource('logging', {
      needs: ['log'],
      run: `services.log.info({ mark: 'm-17' }, 'logging.seen'); await next()`,
    }),
  },
  {
    config: { pipeline: { step_timeout: '100ms' }, providers: { tries: 1 }, plugins: { watch: false } },
  },
)
test.after.always(() => fixture.close())

/** Sends the body through this pipeline. */
async function through(pipe: string, body: string = BODY) {
  const scenario = fixture.scenario()
  const reply = await scenario.send({ body, headers: { 'x-svc-pipe': pipe } })
  return { reply, sent: scenario.seen().map(({ raw }) => raw.toString()) }
}

test('plugins: a dropped-in folder runs with its option, and the reply names the pipeline that ran', async (t) => {
  const { reply, sent } = await through('worded?word=ping')
  t.is(reply.status, 200, reply.text)
  t.is(reply.headers['x-word'], 'ping')
  t.is(reply.headers['x-svc-pipe'], 'worded?word=ping')
  t.deepEqual(sent, [BODY])
})

test('plugins: a broken folder is named in the log and does no harm', async (t) => {
  await eventually(() => /plugin\.broken/.test(fixture.gateway.log()), 'the log names a broken plugin')
  const line = fixture.gateway
    .log()
    .split('\n')
    .find((text) => text.includes('plugin.broken'))
  t.regex(String(line), /"plugin":"broken".*cannot be imported/)
  t.regex((await through('broken')).reply.text, /Unknown plugin `broken` at position 0/)
})

for (const name of ['thrower', 'abrupt', 'unmade', 'idle', 'clumsy', 'hanging', 'late', 'late-answer']) {
  test(`plugins: with ${name} (bypass) the request goes on as if it were not there`, async (t) => {
    const { reply, sent } = await through(`worded,${name}`)
    t.is(reply.status, 200, reply.text)
    t.deepEqual(sent, [BODY])
    t.is(valueAt(reply.json, 'type'), 'message')
    t.is(reply.headers['x-svc-pipe'], 'worded')
    t.is(reply.headers['x-word'], 'pong')
    t.deepEqual([reply.headers['x-clumsy'], reply.headers['x-hanging']], [undefined, undefined])
  })
}

for (const name of ['guard', 'stuck-guard', 'late-guard']) {
  test(`plugins: with ${name} (refuse) the request fails closed, and its reason stays inside`, async (t) => {
    const { reply, sent } = await through(name)
    t.is(reply.status, 503)
    t.regex(reply.text, new RegExp(`Plugin ${name} failed`))
    t.notRegex(reply.text, /boom/)
    t.is(sent.length, name === 'late-guard' ? 1 : 0)
  })
}

test('plugins: one that wakes up after it was given up on can change nothing', async (t) => {
  const { reply, sent } = await through('waking')
  t.is(reply.status, 200)
  t.deepEqual(sent, [BODY])
  await eventually(() => /waking\.refused/.test(fixture.gateway.log()), 'the late edit is refused')
})

test('plugins: one may answer in Koa’s way', async (t) => {
  const { reply, sent } = await through('koa-answer')
  t.is(reply.status, 201)
  t.deepEqual(reply.json, { from: 'koa' })
  t.is(reply.headers['x-svc-pipe'], 'koa-answer')
  t.regex(String(reply.headers['request-id']), /^req_/)
  t.deepEqual(sent, [])
})

test('plugins: one may answer with a reply', async (t) => {
  const { reply, sent } = await through('answer')
  t.is(reply.status, 202)
  t.deepEqual(reply.json, { from: 'reply' })
  t.is(reply.headers['x-own'], '1')
  t.deepEqual(sent, [])
})

test('plugins: of one that fails half-way through its answer nothing remains', async (t) => {
  for (const half of ['half-koa', 'half-json']) {
    const relayed = await through(half)
    t.is(relayed.reply.status, 200)
    t.is(valueAt(relayed.reply.json, 'type'), 'message')
    const answered = await through(`${half},plain-koa`)
    t.is(answered.reply.status, 200)
    t.deepEqual(answered.reply.json, { from: 'plain' })
  }
})

test('plugins: one that answers in Koa’s way behind the cache is heard, each time anew', async (t) => {
  for (let i = 0; i < 2; i++) {
    const { reply } = await through('exact-cache,koa-answer')
    t.is(reply.status, 201)
    t.deepEqual(reply.json, { from: 'koa' })
  }
})

test('plugins: one may turn a failure of the provider into a reply', async (t) => {
  const scenario = fixture.scenario({ kind: 'error', status: 529 })
  const reply = await scenario.send({ body: BODY, headers: { 'x-svc-pipe': 'rescue' } })
  t.is(reply.status, 200)
  t.deepEqual(reply.json, { rescued: 'upstream_error' })
  await fixture.assertSound(t, scenario)
})

test('plugins: a refusal that one words goes to the client, whatever its onError', async (t) => {
  const { reply, sent } = await through('refusal')
  t.is(reply.status, 403)
  t.like(reply.json, { error: { type: 'permission_error', message: 'Not on a Sunday.' } })
  t.deepEqual(sent, [])
})

test('plugins: what one logs carries its name', async (t) => {
  await through('logging')
  await eventually(() => fixture.gateway.log().includes('logging.seen'), 'the plugin has logged')
  const line = fixture.gateway
    .log()
    .split('\n')
    .find((text) => text.includes('logging.seen'))
  t.like(JSON.parse(String(line)), { plugin: 'logging', mark: 'm-17' })
})

test('plugins: an edit changes its range and leaves every other byte', async (t) => {
  const { sent } = await through('editor')
  t.deepEqual(sent, [BODY.replace('"h\\u0069 1.0"', '"changed"')])
})

for (const [pipe, ...says] of [
  ['wordde', 'Unknown plugin `wordde` at position 0', 'Did you mean `worded`?'],
  ['thrower,worded?wrod=1', '`worded` at position 8', '`wrod` cannot be set', 'Did you mean `word`?'],
  ['worded,,guard', 'position 7'],
  ['worded,worded', 'repeated', 'position 7'],
] as const) {
  test(`plugins: the pipeline ${pipe} is refused before the provider is asked, with what is wrong`, async (t) => {
    const { reply, sent } = await through(pipe)
    t.is(reply.status, 400)
    t.is(valueAt(reply.json, 'error.type'), 'invalid_request')
    const message = String(valueAt(reply.json, 'error.message'))
    for (const part of says) t.true(message.includes(part), `${part} in: ${message}`)
    t.deepEqual(sent, [])
  })
}

test('plugins: the empty header means no modules', async (t) => {
  const { reply } = await through('')
  t.is(reply.status, 200)
  t.is(reply.headers['x-svc-pipe'], 'none')
})

test('plugins: many requests through failing modules at once get each its own reply', async (t) => {
  const asked = Array.from({ length: 30 }, (_, n) => ({ n, pipe: ['clumsy', 'worded', 'thrower,editor'][n % 3] ?? '' }))
  await Promise.all(
    asked.map(async ({ n, pipe }) => {
      const { reply, sent } = await through(pipe, JSON.stringify(ask(`number ${n}`)))
      t.is(reply.status, 200)
      t.regex(String(sent[0]), pipe.includes('editor') ? /changed/ : new RegExp(`number ${n}"`))
    }),
  )
})
