import { writeFileSync } from 'node:fs'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { eventually } from '../support/eventually.ts'
import { startGateway } from '../support/gateway.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { ask, send } from '../support/http-client.ts'
import type { JsonObject } from '../support/json.ts'
import { createPluginDirectory, pluginSource } from '../support/plugin-folders.ts'

interface Start {
  files?: Record<string, string>
  config?: JsonObject
  env?: Record<string, string>
}

function environmentOf(t: ExecutionContext, { files = {}, config = {}, env = {} }: Start): Record<string, string> {
  const plugins = createPluginDirectory(t, files)
  const file = path.join(createPluginDirectory(t).path, 'turnpike.yaml')
  writeFileSync(file, JSON.stringify(config))
  return { SVC_PLUGINS_DIR: plugins.path, SVC_CONFIG: file, LOG_LEVEL: 'silent', ...env }
}

const start = (t: ExecutionContext, options: Start) => startGateway(environmentOf(t, options))

const word = pluginSource('worded', { options: 'word: z.string().max(4).default("hi")', perRequest: ['word'] })

for (const [what, options, says] of [
  [
    'a module that is not there',
    { env: { SVC_PIPELINE: 'exact-cahce' } },
    /names `exact-cahce`.*Did you mean `exact-cache`\?/,
  ],
  [
    'a module that is broken',
    { files: { 'bad/index.ts': 'export default' }, env: { SVC_PIPELINE: 'bad' } },
    /`bad` cannot be imported/,
  ],
  ['an option of the pipeline that does not exist', { env: { SVC_PIPELINE: 'exact-cache?tll=1h' } }, /`tll`.*`ttl`/],
  [
    'options for a plugin that does not exist',
    { config: { plugins: { worded: {}, wordde: {} } }, files: { 'worded/index.ts': word } },
    /options for `wordde`.*Did you mean `worded`\?/,
  ],
  [
    'a bad value of a plugin’s option',
    { config: { plugins: { worded: { word: 'too long' } } }, files: { 'worded/index.ts': word } },
    /`worded`: word: .*4/,
  ],
  [
    'a needed plugin whose setup hangs',
    {
      files: { 'hung/index.ts': pluginSource('hung', { setup: 'await new Promise(() => {})' }) },
      config: { plugins: { setup_timeout: '150ms' } },
      env: { SVC_PIPELINE: 'hung' },
    },
    /`hung` could not be set up: .*150 ms/,
  ],
] as const satisfies [string, Start, RegExp][]) {
  test(`start: ${what} stops it with one plain message`, async (t) => {
    const error = await t.throwsAsync(start(t, options))
    const [words = '', log] = String(error?.message).split('\n--- log ---\n')
    t.regex(words, says)
    t.regex(words, /^turnpike cannot start: /)
    t.is(log, '')
  })
}

test('start: a process whose needed plugin hangs exits with one plain message', async (t) => {
  const options = {
    files: {
      'hung/index.ts': pluginSource('hung', { setup: 'setInterval(() => {}, 1000); await new Promise(() => {})' }),
    },
    config: { plugins: { setup_timeout: '150ms' } },
    env: { SVC_PIPELINE: 'hung' },
  }
  const error = await t.throwsAsync(startGatewayProcess(environmentOf(t, options)))
  t.regex(String(error?.message), /exited.*"code":78/)
  const [, log = ''] = String(error?.message).split('--- log ---\n')
  t.regex(log, /^turnpike cannot start: .*`hung` could not be set up: .*150 ms.*\n$/)
})

test('start: a broken or hanging plugin that is not needed is named and left out', async (t) => {
  const gateway = await start(t, {
    files: {
      'bad/index.ts': 'export default',
      'hung/index.ts': pluginSource('hung', { setup: 'await new Promise(() => {})' }),
      'worded/index.ts': word,
    },
    config: { plugins: { setup_timeout: '150ms', bad: { any: 1 } } },
    env: { LOG_LEVEL: 'info', ANTHROPIC_API_KEY: '' },
  })
  t.teardown(gateway.stop)
  for (const name of ['bad', 'hung']) {
    await eventually(
      () => new RegExp(`"plugin":"${name}".*plugin\\.broken`).test(gateway.log()),
      `the log names ${name}`,
    )
  }
  const body = ask('hi', { model: 'demo/echo' })
  t.is((await send(gateway.url, { body, headers: { 'x-svc-pipe': 'worded' } })).status, 200)
})

test('start: plugins are closed in reverse order when the gateway stops, one that throws or hangs included', async (t) => {
  const closing = (name: string, close: string) =>
    pluginSource(name, { needs: ['log'], close: `services.log.info({}, 'close ${name}'); ${close}` })
  const gateway = await start(t, {
    files: {
      'a/index.ts': closing('a', ''),
      'b/index.ts': closing('b', `throw new Error('stuck')`),
      'c/index.ts': closing('c', ''),
    },
    env: { LOG_LEVEL: 'info' },
  })
  const exit = await gateway.stop()
  t.is(exit.code, 0)
  t.deepEqual(gateway.log().match(/close [abc](?=")/g), ['close c', 'close b', 'close a'])
  t.regex(gateway.log(), /"plugin":"b".*plugin\.close-failed/)
})
