import test from 'ava'
import { eventually } from '../support/eventually.ts'
import { ask } from '../support/http-client.ts'
import { openPluginFixture } from '../support/plugin-fixture.ts'
import { type PluginParts, pluginSource } from '../support/plugin-folders.ts'
import { holdEvent, type Script } from '../support/provider/script.ts'

/** Plugins that give up on what they have started, as a deadline of their own would make them. */
const PLUGINS: Record<string, PluginParts> = {
  hasty: {
    run: `const late = new GatewayError('service_unavailable', 'too slow')
      await Promise.race([next(), new Promise((_, reject) => setTimeout(() => reject(late), 50))])`,
  },
  recovering: { run: `await next().catch(() => { exchange.reply = jsonReply({ instead: true }) })` },
  'late-asker': { run: `await new Promise((resolve) => setTimeout(resolve, 200)); await next()` },
  dawdler: {
    needs: ['log'],
    run: `await next()
      services.log.info({}, 'dawdler.waiting')
      await new Promise((resolve) => setTimeout(resolve, 300))`,
  },
  'two-waits': {
    run: `const wait = (ms) => exchange.withoutTimeout(new Promise((resolve) => setTimeout(resolve, ms)))
      await Promise.all([wait(10), wait(700)])
      ctx.set('x-two-waits', 'done')
      await next()`,
  },
  'hangs-after-wait': {
    run: `await exchange.withoutTimeout(new Promise((resolve) => setTimeout(resolve, 10)))
      await new Promise(() => {})`,
  },
}

const fixture = await openPluginFixture(
  Object.fromEntries(Object.entries(PLUGINS).map(([name, parts]) => [`${name}/index.ts`, pluginSource(name, parts)])),
  { config: { providers: { tries: 1 }, pipeline: { step_timeout: '300ms' }, plugins: { watch: false } } },
)
test.after('ownership: nothing is left of all that', (t) => fixture.assertClean(t))
test.after.always(() => fixture.close())

/** A stream that goes on until its reader has left. */
const endless = (before?: Promise<unknown>): Script => ({
  kind: 'answer',
  text: 'one two three four',
  writes: holdEvent(2, new Promise(() => {})),
  ...(before !== undefined && { before: { until: before } }),
})

function askThrough(scenario: ReturnType<typeof fixture.scenario>, pipe: string, signal?: AbortSignal) {
  const body = ask('hello', { stream: true })
  return scenario.send({ body, headers: { 'x-svc-pipe': pipe }, ...(signal && { signal }) })
}

test('ownership: a module that gives up before the reply has come stops the provider', async (t) => {
  const scenario = fixture.scenario(endless(new Promise(() => {})))
  const isSent = async () => {
    t.is((await askThrough(scenario, 'hasty')).status, 503)
    return scenario.seen().length > 0 // on a busy machine the module may give up sooner
  }
  await eventually(isSent, 'a request reaches the provider')
  t.is(await scenario.seen()[0]?.closed, 'client-left')
})

test('ownership: a stream that comes after a module gave up is cancelled, also where another has answered', async (t) => {
  const begin = Promise.withResolvers<void>()
  const scenario = fixture.scenario(endless(begin.promise))
  const isSent = async () => {
    t.deepEqual((await askThrough(scenario, 'recovering,hasty')).json, { instead: true })
    return scenario.seen().length > 0 // on a busy machine the module may give up sooner
  }
  await eventually(isSent, 'a request reaches the provider')
  begin.resolve()
  t.is(await scenario.seen()[0]?.closed, 'client-left')
})

test('ownership: behind a module that gave up no provider is called any more', async (t) => {
  const scenario = fixture.scenario()
  t.is((await askThrough(scenario, 'hasty,late-asker')).status, 503)
  // A request through the same slow module, sent later, has its answer later.
  t.is((await askThrough(scenario, 'late-asker')).status, 200)
  t.is(scenario.seen().length, 1)
})

test('ownership: a stream of which every reader has left before it began is stopped', async (t) => {
  const scenario = fixture.scenario(endless())
  const leaving = new AbortController()
  const asked = askThrough(scenario, 'exact-cache,dawdler', leaving.signal)
  await eventually(() => fixture.gateway.log().includes('dawdler.waiting'), 'the reply has begun')
  leaving.abort()
  await asked
  t.is(await scenario.seen()[0]?.closed, 'client-left')
})

test('ownership: of two declared waits that overlap the longer one counts', async (t) => {
  const reply = await askThrough(fixture.scenario(), 'two-waits')
  t.is(reply.headers['x-two-waits'], 'done')
  t.is(reply.headers['x-svc-pipe'], 'two-waits')
})

test('ownership: a module that hangs after a declared wait is bypassed', async (t) => {
  const reply = await askThrough(fixture.scenario(), 'hangs-after-wait')
  t.is(reply.status, 200)
  t.is(reply.headers['x-svc-pipe'], 'none')
})
