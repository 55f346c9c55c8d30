import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { runCommandInThread } from '../support/command-in-thread.ts'
import { runCommand } from '../support/command-line.ts'
import { parseJson, valueAt } from '../support/json.ts'
import { createPluginDirectory, pluginSource } from '../support/plugin-folders.ts'

const CANARY = 'sk-ant-canary-51c2'

/** A configuration file with this text; the project's own must not reach a test. */
function configFile(t: ExecutionContext, yaml = ''): { SVC_CONFIG: string } {
  return { SVC_CONFIG: createPluginDirectory(t).put('turnpike.yaml', yaml) }
}

test('cli: help lists the commands, each with its purpose', async (t) => {
  const { code, stdout } = await runCommand(['--help'])
  t.is(code, 0)
  for (const command of ['start', 'pipeline', 'plugin', 'config'])
    t.regex(stdout, new RegExp(`^  ${command} .* {2}[A-Z]`, 'm'))
  const explain = await runCommandInThread(['pipeline', 'explain', '--help'])
  t.regex(explain.stdout, /\$ turnpike pipeline explain "/)
})

for (const [args, expected, says] of [
  [['strat'], 2, /unknown command 'strat'\n\(Did you mean start\?\)/],
  [['plugin'], 2, /Usage: turnpike plugin/],
  [['start', '--workers', 'many'], 2, /expected a whole number from 1 to/],
  [['pipeline', 'explain', '--as', 'me'], 2, /Allowed choices are header, key, default/],
  [
    ['pipeline', 'explain', 'exact-cahce'],
    2,
    /Unknown plugin `exact-cahce` at position 0.*Did you mean `exact-cache`\?/,
  ],
  [['pipeline', 'explain', 'exact-cache?max_memory=1GB'], 2, /`max_memory` cannot be set/],
  [['plugin', 'new', 'Upper'], 2, /lower-case letters, digits and hyphens, got `Upper`/],
  [['plugin', 'check', '/no/such/folder'], 1, /has no index\.ts, index\.js or index\.mjs/],
  [['tail', '--url', 'http://127.0.0.1:9'], 69, /No gateway replies at http:\/\/127\.0\.0\.1:9 \(.+\)\. Start one/],
  [['tail', '--url', 'ftp://x'], 2, /expected an address such as http/],
  [['tail', '--status', 'bad'], 2, /expected 429, 4xx, ok or failed/],
  [['replay', 'req_1', '--url', 'http://127.0.0.1:9'], 69, /No gateway replies/],
  [['replay', 'req_1', '-H', 'no colon'], 2, /expected "name: value"/],
  [['bench'], 2, /unknown command 'bench'/],
  [['size'], 2, /unknown command 'size'/],
  [['completion', 'bash'], 2, /unknown command 'completion'/],
] as const) {
  test(`cli: turnpike ${args.join(' ')} fails with the reason`, async (t) => {
    const { code, stdout, stderr } = await runCommandInThread(args, { env: configFile(t) })
    t.is(code, expected)
    t.regex(stderr, says)
    t.is(stdout, '')
    t.notRegex(stderr, / {4}at /)
  })
}

test('cli: a configuration that cannot be used has an exit code of its own', async (t) => {
  const { code, stderr } = await runCommand(['config'], { env: configFile(t, 'sever: {}') })
  t.is(code, 78)
  t.regex(stderr, /unknown option `sever`\. Did you mean `server`\?/)
})

test('cli: config shows every value with its origin, and hides secrets', async (t) => {
  const env = {
    ...configFile(t, 'server: { port: 4000 }\nproviders: { tries: 2 }'),
    ANTHROPIC_API_KEY: CANARY,
    HTTPS_PROXY: `http://user:${CANARY}@proxy.example`,
    REDIS_URL: `redis://:${CANARY}@redis.example`,
    PORT: '4001',
  }
  const [text, json] = await Promise.all([
    runCommandInThread(['config'], { env }),
    runCommandInThread(['config', '--json'], { env }),
  ])
  t.deepEqual([text.code, json.code], [0, 0])
  for (const { stdout, stderr } of [text, json]) t.false((stdout + stderr).includes(CANARY))
  t.regex(text.stdout, /^server\.port: 4001 {2}# environment$/m)
  t.regex(text.stdout, /^providers\.tries: 2 {2}# file$/m)
  t.regex(text.stdout, /^providers\.anthropic\.api_key: "\[hidden\]" {2}# environment$/m)
  t.regex(text.stdout, /^server\.host: \(unset\) {2}# default$/m)
  const parsed = parseJson(json.stdout)
  t.is(valueAt(parsed, 'file'), env.SVC_CONFIG)
  const options = valueAt(parsed, 'options')
  const byName = new Map(Array.isArray(options) ? options.map((option) => [valueAt(option, 'name'), option]) : [])
  t.deepEqual(byName.get('server.port'), { name: 'server.port', value: 4001, source: 'environment' })
  t.deepEqual(byName.get('redis_url'), { name: 'redis_url', value: '[hidden]', source: 'environment' })
})

test('cli: config hides the secrets of plugins, however deep they stand', async (t) => {
  const config = {
    plugins: {
      'semantic-cache': { remote: { model: 'shown', api_key: CANARY }, more: [[{ name: 'shown', secret: CANARY }]] },
    },
  }
  const { stdout } = await runCommandInThread(['config'], { env: configFile(t, JSON.stringify(config)) })
  t.regex(stdout, /plugins\.semantic-cache\.remote: \{"model":"shown","api_key":"\[hidden\]"\}/)
  t.regex(stdout, /plugins\.semantic-cache\.more: \[\[\{"name":"shown","secret":"\[hidden\]"\}\]\]/)
  t.false(stdout.includes(CANARY))
})

/** Compares with a golden file; `UPDATE_GOLDEN=1` writes it anew. */
function isGolden(t: ExecutionContext, actual: string, name: string): void {
  const file = path.join(import.meta.dirname, '../golden', name)
  if (process.env.UPDATE_GOLDEN !== undefined) writeFileSync(file, actual)
  t.is(actual, readFileSync(file, 'utf8'))
}

test('cli: explain shows the default pipeline, its options, the source of each and what a caller may change', async (t) => {
  const { code, stdout } = await runCommandInThread(['pipeline', 'explain'], { env: configFile(t) })
  t.is(code, 0)
  isGolden(t, stdout, 'explain-default.txt')
})

const RAILED = `
pipeline:
  default: 'worded,exact-cache?ttl=2h,sealed'
  locked: [sealed]
  allowed: [exact-cache]
  clamps: { exact-cache: { ttl: { max: 1h } } }
plugins:
  watch: false
  exact-cache: { max_entry: 1MB }
`

function railedPlugins(t: ExecutionContext): { SVC_PLUGINS_DIR: string } {
  const options = `word: z.string().default("hi"), key: z.string().default("${CANARY}").meta({ secret: true })`
  const plugins = createPluginDirectory(t, {
    'worded/index.ts': pluginSource('worded', { options, perRequest: ['word'] }),
    'sealed/index.ts': pluginSource('sealed', { onError: 'refuse' }),
  })
  return { SVC_PLUGINS_DIR: plugins.path }
}

test('cli: explain shows what rails do to a caller’s string', async (t) => {
  const env = { ...configFile(t, RAILED), ...railedPlugins(t) }
  const { stdout, code } = await runCommandInThread(['pipeline', 'explain', 'exact-cache?ttl=10m'], { env })
  t.is(code, 0)
  isGolden(t, stdout, 'explain-railed.txt')
})

test('cli: explain --capped shows the guard that a cap of a key, person, team or tag locks', async (t) => {
  const printed = async (...more: string[]) => {
    const words = ['pipeline', 'explain', 'none', '--json', ...more]
    const { stdout, code } = await runCommandInThread(words, { env: configFile(t) })
    t.is(code, 0)
    return parseJson(stdout)
  }
  t.deepEqual(valueAt(await printed(), 'steps'), [])
  t.like(valueAt(await printed('--capped'), 'steps.0'), { name: 'cost-guard', isLocked: true })
})

test('cli: explain --json has the same as data, and hides options that a plugin marks as secret', async (t) => {
  const env = { ...configFile(t, RAILED), ...railedPlugins(t) }
  const { stdout, code } = await runCommandInThread(['pipeline', 'explain', '--json'], { env })
  t.is(code, 0)
  t.false(stdout.includes(CANARY))
  const parsed = parseJson(stdout)
  t.is(valueAt(parsed, 'pipeline'), 'worded,exact-cache?ttl=2h,sealed')
  t.like(valueAt(parsed, 'steps.0'), {
    name: 'worded',
    isLocked: false,
    onError: 'bypass',
    options: [
      { name: 'word', value: 'hi', setBy: 'default', callerMay: 'no' },
      { name: 'key', value: '[hidden]', setBy: 'default', callerMay: 'no' },
    ],
  })
  t.like(valueAt(parsed, 'steps.1.options.0'), {
    name: 'ttl',
    value: 7_200_000,
    setBy: 'pipeline',
    callerMay: 'within {"max":"1h"}',
  })
  t.like(valueAt(parsed, 'steps.1.options.3'), { name: 'max_entry', setBy: 'configuration', callerMay: 'no' })
  t.like(valueAt(parsed, 'steps.2'), { name: 'sealed', isLocked: true, onError: 'refuse', options: [] })
})

test('cli: plugin list names every plugin with its folder, and a broken one apart', async (t) => {
  const plugins = createPluginDirectory(t, {
    'mine/index.ts': pluginSource('mine'),
    'bad/index.ts': 'export default',
  })
  const env = { ...configFile(t), SVC_PLUGINS_DIR: plugins.path }
  const [text, json] = await Promise.all([
    runCommandInThread(['plugin', 'list'], { env }),
    runCommandInThread(['plugin', 'list', '--json'], { env }),
  ])
  t.is(text.code, 1)
  t.regex(text.stdout, /^exact-cache {2,}\S.*\n.*plugins\/exact-cache$/m)
  t.regex(text.stdout, /^mine {2,}A plugin of a test\.$/m)
  t.regex(text.stdout, /^bad {2,}BROKEN: .*bad\/index\.ts:1/m)
  const listed = parseJson(json.stdout)
  t.true(Array.isArray(listed) && listed.length >= 2)
  t.is(
    Array.isArray(listed) &&
      valueAt(
        listed.find((plugin) => valueAt(plugin, 'name') === 'mine'),
        'folder',
      ),
    path.join(plugins.path, 'mine'),
  )
})

test('cli: plugin check accepts a good plugin and refuses a broken one', async (t) => {
  const plugins = createPluginDirectory(t, {
    'good/index.ts': pluginSource('good'),
    'bad/index.ts': pluginSource('bad').replace(`onError: 'bypass'`, `onError: 'ignore'`),
  })
  const env = configFile(t)
  const [good, bad] = await Promise.all(
    ['good', 'bad'].map((name) => runCommand(['plugin', 'check', path.join(plugins.path, name)], { env })),
  )
  t.like(good, { code: 0, stdout: 'good: fine. A plugin of a test.\n' })
  t.is(bad?.code, 1)
  t.regex(String(bad?.stderr), /`bad` breaks the contract: onError/)
})
