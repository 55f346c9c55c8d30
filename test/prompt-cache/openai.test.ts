import test from 'ava'
import { runPlugin } from 'turnpike/plugin/test'
import promptCache from '../../plugins/prompt-cache/index.ts'
import { RequestDocument } from '../../src/core/request/request.ts'
import { toResponsesRequest } from '../../src/dialects/responses/to-responses-request.ts'
import { type JsonObject, valueAt } from '../support/json.ts'
import { createPluginDirectory, pluginSource } from '../support/plugin-folders.ts'
import { bookOf } from '../support/price-usage.ts'
import { openProviderFixture } from '../support/provider-fixture.ts'
import { createRecordingLog } from '../support/recording-log.ts'
import { bodyOf, PATHS, textOf } from './conversation-bodies.ts'

const MINUTE = 60_000
const EXPLICIT = { mode: 'explicit' }

// Removed by the hook below: AVA wants all hooks and tests declared in one turn.
let removePlugins = () => {}
const plugins = createPluginDirectory(
  {
    teardown(remove: () => void) {
      removePlugins = remove
    },
  },
  {
    'unwritten/index.js': pluginSource('unwritten', {
      run: `exchange.edit({ op: 'add', path: ['prompt_cache_options'], value: { mode: 'explicit' } }); await next()`,
    }),
  },
)
const fixture = await openProviderFixture({ env: { SVC_PIPELINE: 'unwritten', SVC_PLUGINS_DIR: plugins.path } })
test.after.always(async () => {
  await fixture.close()
  removePlugins()
})

/** The plugin on a clock, with one memory for all requests. */
async function open() {
  const clock = { atMs: Date.UTC(2026, 10, 20) }
  const services = { clock: { nowMs: () => clock.atMs }, log: createRecordingLog(), prices: bookOf() }
  const instance = await promptCache.setup(promptCache.options.parse({}), services)
  const shared = { ...promptCache, setup: () => instance }
  const ask = (body: JsonObject) =>
    runPlugin(shared, { dialect: 'chat', body: { model: 'gpt-5.6', ...body }, services })
  return { clock, ask }
}

const question = (name: string) => ({ messages: [{ role: 'user', content: textOf(name, 1500) }] })

test('prompt-cache: OpenAI writes no prompt of a caller whose prompts have never come again', async (t) => {
  const { clock, ask } = await open()
  const results = []
  for (let index = 0; index < 12; index++) {
    clock.atMs += 4 * MINUTE
    results.push(await ask(question(`${t.title} ${index}`)))
  }
  t.is(valueAt(results[0]?.request, 'prompt_cache_options'), undefined)
  t.is(results[0]?.action, 'idle')
  t.deepEqual(valueAt(results.at(-1)?.request, 'prompt_cache_options'), EXPLICIT)
  t.is(results.at(-1)?.action, 'unwritten')
})

test('prompt-cache: OpenAI’s own writes stay where a conversation goes on', async (t) => {
  const { clock, ask } = await open()
  for (let index = 0; index < 12; index++) {
    clock.atMs += 4 * MINUTE
    await ask(question(`${t.title} ${index}`))
  }
  const { model: _, ...talk } = bodyOf('chat', t.title, 2)
  const { model: __, ...begun } = bodyOf('chat', t.title, 1)
  await ask(begun)
  clock.atMs += MINUTE
  t.is(valueAt((await ask(talk)).request, 'prompt_cache_options'), undefined)
})

test('prompt-cache: a client’s own options for OpenAI’s cache, and its breakpoints, are kept', async (t) => {
  const { ask } = await open()
  const marked = [
    { role: 'user', content: [{ type: 'text', text: 'Hi.', prompt_cache_breakpoint: { mode: 'explicit' } }] },
  ]
  for (const body of [
    { prompt_cache_options: { mode: 'implicit' } },
    { prompt_cache_retention: '24h' },
    { messages: marked },
  ]) {
    const { action, details } = await ask(body)
    t.deepEqual([action, details], ['idle', { reason: 'the client sets marks' }])
  }
})

test('prompt-cache: models that bill no writes are left alone', async (t) => {
  const { ask } = await open()
  t.deepEqual((await ask({ ...question(t.title), model: 'gpt-5.5' })).details, { reason: 'a target takes no marks' })
})

test('prompt-cache: options for OpenAI’s cache are added to the client’s bytes', async (t) => {
  const scenario = fixture.scenario()
  const body = '{"model":"gpt-5.6", "messages":[ {"role":"user","content":"h\\u00e9y"} ] ,"seed":1.0}'
  const reply = await scenario.send({ path: PATHS.chat, body })
  t.is(reply.status, 200, reply.text)
  t.is(reply.headers['x-svc-dropped'], undefined)
  t.is(String(scenario.seen('openai')[0]?.raw), body.replace(/\}$/, ',"prompt_cache_options":{"mode":"explicit"}}'))
})

test('prompt-cache: they are part of translated requests, and dropped where they mean nothing', async (t) => {
  for (const [model, provider, options] of [
    ['gpt-5.6', 'openai', EXPLICIT],
    ['gpt-4o', 'openai', undefined],
    ['house/qwen3-32b', 'house', undefined],
  ] as const) {
    const scenario = fixture.scenario()
    const body = { model, max_tokens: 20, messages: [{ role: 'user', content: 'Hi.' }] }
    const reply = await scenario.send({ path: PATHS.messages, body })
    t.is(reply.status, 200, reply.text)
    t.deepEqual(scenario.seen(provider)[0]?.json?.prompt_cache_options as unknown, options)
    t.is(String(reply.headers['x-svc-dropped']).includes('prompt_cache_options'), options === undefined)
  }
})

test('prompt-cache: they are part of requests that are translated into Responses', (t) => {
  const request = new RequestDocument(
    Buffer.from(JSON.stringify({ model: 'm', max_tokens: 20, messages: [], prompt_cache_options: EXPLICIT })),
  )
  const habits = {
    maxTokensField: 'max_completion_tokens',
    systemRole: 'system',
    reasoningField: undefined,
    reasoningEffort: true,
    fixedSampling: undefined,
    cacheOptions: /^gpt-5\.6/,
    mostStopSequences: 4,
    streamUsage: true,
  } as const
  const { bytes } = toResponsesRequest(request, { model: 'gpt-5.6', habits, assumed: [] })
  t.deepEqual(JSON.parse(bytes.toString()).prompt_cache_options, EXPLICIT)
})
