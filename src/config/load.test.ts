import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createPluginDirectory } from '../../test/support/plugin-folders.ts'
import { ConfigError } from './config-error.ts'
import { loadConfig, pluginOptions } from './load.ts'

const CANARY = 'sk-ant-canary-7d1f'

/** Loads this YAML with this environment. */
function load(t: ExecutionContext, yaml: string, env: Record<string, string> = {}) {
  const file = createPluginDirectory(t, { 'turnpike.yaml': yaml })
  return loadConfig({ SVC_CONFIG: path.join(file.path, 'turnpike.yaml'), ...env })
}

function faultsOf(t: ExecutionContext, yaml: string, env: Record<string, string> = {}): string {
  return t.throws(() => load(t, yaml, env), { instanceOf: ConfigError }).message
}

test('config: the defaults need neither file nor environment', (t) => {
  const { config, sourceOf } = load(t, '')
  t.is(config.mode, 'local')
  t.is(config.server.port, 3099)
  t.is(config.server.body_limit, 32 * 1024 * 1024)
  t.is(config.pipeline.default, 'exact-cache,cost-guard')
  t.true(config.providers.timeouts.first_byte >= 10 * 60_000)
  t.is(sourceOf('server.port'), 'default')
})

test('config: a file of comments alone has no options; one after a byte order mark counts', (t) => {
  const comments = '# server:\r\n\n  #   port: 1\n\t\n'
  t.is(load(t, comments).config.server.port, 3099)
  for (const before of ['', comments, '\uFEFF']) t.is(load(t, `${before}server: {port: 4000}`).config.server.port, 4000)
  t.regex(faultsOf(t, `${comments}  - 1\n`), /expected a map of options/)
})

test('config: the environment overrides the file, which overrides the default', (t) => {
  const yaml =
    'server: { port: 4000, body_limit: 1MB }\npipeline:\n  default: none\nproviders: { anthropic: { base_url: "http://a" } }'
  const { config, sourceOf } = load(t, yaml, { PORT: '5000', ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' })
  t.is(config.server.port, 5000)
  t.is(config.server.body_limit, 1024 * 1024)
  t.is(config.pipeline.default, 'none')
  t.like(config.providers, { anthropic: { base_url: 'http://127.0.0.1:9' } })
  t.deepEqual(['server.port', 'server.body_limit', 'mode', 'providers.anthropic.base_url'].map(sourceOf), [
    'environment',
    'file',
    'default',
    'environment',
  ])
})

test('config: an empty variable counts as unset', (t) => {
  const { config } = load(t, 'server: { port: 4000 }', { PORT: '', SVC_PIPELINE: '', ANTHROPIC_API_KEY: '' })
  t.is(config.server.port, 4000)
  t.is(config.pipeline.default, 'exact-cache,cost-guard')
  t.like(config.providers, { anthropic: { api_key: undefined } })
})

test('config: lists in the environment are separated by a colon for folders and a comma otherwise', (t) => {
  const { config } = load(t, 'plugins: { dirs: [/file] }', {
    SVC_PLUGINS_DIR: '/a:/b c: :/d,e',
    SVC_CORS_ORIGINS: 'https://a.example, http://b.example:8080 ,',
  })
  t.deepEqual(config.plugins.dirs, ['/a', '/b c', '/d,e'])
  t.deepEqual(config.server.cors_origins, ['https://a.example', 'http://b.example:8080'])
})

test('config: proxy variables are read in lower case too, and upper case takes precedence', (t) => {
  t.is(load(t, '', { https_proxy: 'http://low:1' }).config.providers.proxy, 'http://low:1')
  t.is(load(t, '', { https_proxy: 'http://low:1', HTTPS_PROXY: 'http://up:1' }).config.providers.proxy, 'http://up:1')
})

test('config: a section whose options are all commented out is unset', (t) => {
  const { config } = load(
    t,
    'server:\n  # port: 1\nproviders:\n  timeouts:\n    # idle: 1s\n  tries: 2\npipeline: { locked: }',
  )
  t.is(config.server.port, 3099)
  t.is(config.providers.tries, 2)
  t.deepEqual(config.pipeline.locked, [])
})

test('config: options of plugins are passed on unchanged, without the other settings of `plugins`', (t) => {
  const { config } = load(t, 'plugins: { watch: false, dirs: [/a], exact-cache: { ttl: 2h, any: [1] }, mine: {} }')
  t.deepEqual(
    [...pluginOptions(config)],
    [
      ['exact-cache', { ttl: '2h', any: [1] }],
      ['mine', {}],
    ],
  )
})

for (const [yaml, key, nearest] of [
  ['sever: {}', 'sever', 'server'],
  ['server: { prot: 1 }', 'server.prot', 'port'],
  ['providers: { timeouts: { idel: 1s } }', 'providers.timeouts.idel', 'idle'],
  ['providers: { anthropic: { api-key: x } }', 'providers.anthropic.api-key', 'api_key'],
  ['pipeline: { clamps: { cap: { usd: { maxx: 1 } } } }', 'pipeline.clamps.cap.usd.maxx', 'max'],
] as const) {
  test(`config: the unknown key ${key} is refused with the nearest one`, (t) => {
    const message = faultsOf(t, yaml)
    t.true(message.includes(`unknown option \`${key}\``), message)
    t.true(message.includes(`Did you mean \`${nearest}\`?`), message)
  })
}

for (const [yaml, env, ...parts] of [
  ['server: { port: 70000 }', {}, '`server.port`', '65535', '70000'],
  ['', { PORT: 'http' }, '`server.port`', 'number', '"http"'],
  ['server: { body_limit: 5 }', {}, '`server.body_limit`', 'string', '5'],
  ['server: { body_limit: 5TB }', {}, '`server.body_limit`', 'between 1KB and 256MB', '`5TB`'],
  ['providers: { timeouts: { idle: 1y } }', {}, '`providers.timeouts.idle`', 'between 1s and 2h', '`1y`'],
  ['', { SVC_MODE: 'clowd' }, '`mode`', '"local"|"cloud"', '"clowd"'],
  ['', { ANTHROPIC_BASE_URL: 'example.com' }, '`providers.anthropic.base_url`', 'http(s) address'],
  ['plugins: { watch: maybe }', {}, '`plugins.watch`', 'boolean', '"maybe"'],
  ['plugins: { mine: 5 }', {}, '`plugins.mine`', '5'],
] as const) {
  test(`config: a bad value is refused with its path and what was expected: ${yaml}${JSON.stringify(env)}`, (t) => {
    const message = faultsOf(t, yaml, env)
    for (const part of parts) t.true(message.includes(part), `${part} in: ${message}`)
  })
}

test('config: all faults are reported at once', (t) => {
  const message = faultsOf(t, 'server: { port: -1, prot: 1 }\nmod: local', { LOG_LEVEL: 'loud' })
  for (const part of ['server.port', 'server.prot', '`mod`', 'log_level']) t.true(message.includes(part), message)
})

for (const [what, yaml, env] of [
  ['an address with a password', '', { HTTPS_PROXY: `ftp://user:${CANARY}@proxy` }],
  ['a store with a password', '', { REDIS_URL: `http://:${CANARY}@redis` }],
  ['a credential of the wrong type', `providers: { anthropic: { api_key: [${CANARY}] } }`, {}],
  ['a misspelt key of a credential', `providers: { anthropic: { api_keyy: ${CANARY} } }`, {}],
  ['a credential on a line of invalid YAML', `providers:\n  anthropic:\n    api_key: "${CANARY}\n`, {}],
  ['a credential given twice', `providers:\n  anthropic:\n    api_key: a\n    api_key: ${CANARY}\n`, {}],
  ['a credential where a section belongs', `providers: { anthropic: ${CANARY} }`, {}],
  ['a credential in a list that should be a section', `providers: { anthropic: [{ api_key: ${CANARY} }] }`, {}],
] as const) {
  test(`config: a secret stays out of the message about ${what}`, (t) => {
    const message = faultsOf(t, yaml, env)
    t.false(message.includes(CANARY), message)
    t.regex(message, /providers|redis_url|YAML/)
  })
}

test('config: a file that SVC_CONFIG names must exist', (t) => {
  const error = t.throws(() => loadConfig({ SVC_CONFIG: '/no/such/file.yaml' }), { instanceOf: ConfigError })
  t.regex(error.message, /`\/no\/such\/file\.yaml` does not exist.*SVC_CONFIG/)
})

test('config: invalid YAML is reported with line and column', (t) => {
  t.regex(faultsOf(t, 'server:\n  port: [1\n'), /turnpike\.yaml` is not valid YAML at line \d+, column \d+/)
  t.regex(faultsOf(t, 'mode: local\nmode: cloud\n'), /not valid YAML at line 2, column 1/)
})

for (const yaml of ['- a\n- b', 'just text', '5']) {
  test(`config: ${JSON.stringify(yaml)} is refused: not a map of options`, (t) => {
    t.regex(faultsOf(t, yaml), /expected a map of options/)
  })
}

test('config: aliases in a file cannot expand without bound', (t) => {
  const level = (name: string, inner: string) => `${name}: &${name} [${Array(12).fill(inner).join(', ')}]`
  const yaml = [level('a', 'x'), level('b', '*a'), level('c', '*b'), level('d', '*c')].join('\n')
  t.throws(() => load(t, yaml), { instanceOf: ConfigError })
})
