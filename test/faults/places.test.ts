import { renameSync, rmSync } from 'node:fs'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { runCommandInThread } from '../support/command-in-thread.ts'
import { runCommand } from '../support/command-line.ts'
import { eventually } from '../support/eventually.ts'
import { startGateway } from '../support/gateway.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { ask, send } from '../support/http-client.ts'
import { once } from '../support/once.ts'
import { createPluginDirectory, pluginSource } from '../support/plugin-folders.ts'
import { freePort } from '../support/ports.ts'

/*
 * Errors about folders, files, plugins and services name the place and the cause.
 */
process.setMaxListeners(50)

/** Returns the reason of a start that fails in this thread. */
async function refusalOf(t: ExecutionContext, env: Record<string, string>): Promise<string> {
  const error = await t.throwsAsync(startGateway(env).then((gateway) => gateway.stop()))
  return String(error?.message)
}

/** Returns the reason of a process that exits as for a fault of its configuration. */
async function refusalOfProcess(t: ExecutionContext, env: Record<string, string>): Promise<string> {
  const error = await t.throwsAsync(startGatewayProcess(env).then((gateway) => gateway.stop()))
  t.regex(String(error?.message), /exited before it answered.*"code":78/)
  return String(error?.message)
}

for (const folder of ['/proc/x', '/proc/x/y/z', '/sys/nope', '/dev/null/x'])
  test(`places: the data folder ${folder} is refused at once, with its path and the cause`, async (t) => {
    const words = await refusalOf(t, { SVC_DATA_DIR: folder })
    t.regex(
      words,
      new RegExp(`\`data_dir\`: \`${folder}\` cannot be used: (ENOENT|EPERM|EACCES|EEXIST|ENOTDIR).*SVC_DATA_DIR`),
    )
  })

test('places: a database that is a folder is refused with its path and the cause', async (t) => {
  const { path: folder } = createPluginDirectory(t, { 'turnpike.db/file': '' })
  const words = await refusalOfProcess(t, { SVC_DATA_DIR: folder })
  t.true(words.includes(`\`data_dir\` (${folder}/turnpike.db)`), words)
  t.regex(words, /\(unable to open database file\)/)
})

test('places: PostgreSQL that is down is refused with its host and the cause, and without its password', async (t) => {
  const port = await freePort()
  const words = await refusalOfProcess(t, { DATABASE_URL: `postgres://user:CANARY@127.0.0.1:${port}/books` })
  t.true(words.includes(`\`database_url\` (127.0.0.1:${port}/books)`), words)
  t.regex(words, /ECONNREFUSED/)
  t.notRegex(words, /CANARY/)
})

for (const [name, url, words] of [
  ['DATABASE_URL', 'postgres://user:12/CANARY@127.0.0.1:1/books', /percent-encoded/],
  ['DATABASE_URL', 'postgres://user:12?CANARY@127.0.0.1:1/books', /percent-encoded/],
  ['REDIS_URL', 'redis://user:12#CANARY@127.0.0.1:1', /percent-encoded/],
  ['REDIS_URL', 'redis://127.0.0.1:1/CANARY', /`redis_url`: expected a number/],
] as const)
  test(`places: ${url} is refused, and nothing of its credentials is shown`, async (t) => {
    const refusal = await refusalOf(t, { [name]: url })
    t.regex(refusal, words)
    t.notRegex(refusal, /CANARY|user:12/)
  })

test('places: Redis that is down at the start is one line with its host', async (t) => {
  const port = await freePort()
  const gateway = await startGateway({ REDIS_URL: `redis://:CANARY@127.0.0.1:${port}/3` })
  t.teardown(() => gateway.stop())
  const lines = () =>
    gateway
      .log()
      .split('\n')
      .filter((line) => line.includes('"store.failed"'))
  await eventually(() => lines().length > 0, 'a line about Redis')
  for (let i = 0; i < 3; i++) await send(gateway.url, { body: ask('hi', { model: 'demo/echo' }) })
  await gateway.stop()
  t.is(lines().length, 1, lines().join('\n'))
  t.regex(lines()[0] ?? '', new RegExp(`"host":"127\\.0\\.0\\.1:${port}/3".*ECONNREFUSED`))
  t.notRegex(gateway.log(), /CANARY/)
})

const BROKEN: Readonly<Record<string, { files: Record<string, string>; at: string }>> = {
  syntax: {
    files: {
      'index.ts': 'import { definePlugin } from "turnpike/plugin"\nexport default definePlugin({\n\toops here\n})\n',
    },
    at: 'index.ts:3:7',
  },
  enums: { files: { 'index.ts': '// An enum\nexport enum Word { one }\n' }, at: 'index.ts:2:8' },
  script: { files: { 'index.mjs': 'export default {}\n\tlet é = "x" +;\n' }, at: 'index.mjs:2:15' },
  part: {
    files: {
      'index.js': 'import "./parts/one.js"\nexport default {}\n',
      'parts/one.js': 'let one\nlet one\n',
      'node_modules/other/index.js': 'never {{ loaded',
    },
    at: 'parts/one.js:2:5',
  },
  name: {
    files: { 'index.ts': 'import {\n  definePlugin,\n  defineModule,\n} from "turnpike/plugin"\n' },
    at: 'index.ts:3:3',
  },
  setup: {
    files: {
      'index.ts': pluginSource('setup', {
        head: '\n\nfunction fail() {\n  throw new Error("no such thing")\n}',
        setup: 'fail()',
      }),
    },
    at: 'index.ts:7:9',
  },
}

/** All of them in one folder, and the output about it: each is reported, whatever the others are. */
const broken = createPluginDirectory({ teardown: test.after.always })
for (const [name, { files }] of Object.entries(BROKEN))
  for (const [file, source] of Object.entries(files)) broken.put(`${name}/${file}`, source)
const environment = { SVC_PLUGINS_DIR: broken.path, SVC_DATA_DIR: path.join(broken.path, 'data') }
const listed = once(() => runCommandInThread(['plugin', 'list'], { env: environment }))
const examined = once(() => runCommandInThread(['doctor', '--offline'], { env: { ...environment, PORT: '0' } }))
const logged = once(async () => {
  await using gateway = await startGateway(environment)
  return gateway.log()
})

for (const [name, { at }] of Object.entries(BROKEN))
  test(`places: a plugin that is broken at its ${name} is reported with file, line and column, and not listed as working`, async (t) => {
    const place = `${broken.path}/${name}/${at}: `
    const checked = await runCommandInThread(['plugin', 'check', path.join(broken.path, name)], { env: environment })
    t.is(checked.code, 1)
    t.regex(checked.stderr, new RegExp(place))
    t.is((await listed()).code, 1)
    t.regex((await listed()).stdout, new RegExp(`\n${name} +BROKEN: .*${place}`))
    t.is((await examined()).code, 1)
    t.regex((await examined()).stdout, new RegExp(`FAULT .*\`${name}\`.*${place}`))
    t.regex(await logged(), new RegExp(`${place}.*"plugin\\.broken"`))
  })

const CONFIGURATIONS: readonly [text: string, env: Record<string, string>, expected: RegExp][] = [
  ['', { PORT: 'abc' }, /- `server\.port`: expected number \(got `"abc"`\)/],
  [
    'server:\n  tries: 1\n bad: 2\n',
    {},
    /turnpike\.yaml` is not valid YAML at line 3, column 1: the line is indented differently/,
  ],
  ['providers:\n  tries: 2\n  timeouts:\n    idle: soon\n', {}, /- line 4: `providers\.timeouts\.idle`/],
  ['server:\n  prot: 2\n', {}, /- line 2: unknown option `server\.prot`\. Did you mean `port`/],
]

/** Writes a configuration, and returns the environment that selects it. */
function configured(t: ExecutionContext, text: string, env: Record<string, string>): Record<string, string> {
  return { SVC_CONFIG: createPluginDirectory(t).put('turnpike.yaml', text), ...env }
}

function assertExplained(t: ExecutionContext, output: string, expected: RegExp): void {
  t.regex(output, expected)
  t.notRegex(output, /NaN|[A-Z]+_[A-Z]+_?[A-Z]*\)|Invalid input/)
}

for (const [text, env, expected] of CONFIGURATIONS)
  test(`places: a fault of a configuration is explained, with its line: ${JSON.stringify([text, env])}`, async (t) =>
    assertExplained(t, await refusalOf(t, configured(t, text, env)), expected))

test('places: a command explains a fault of a configuration as the start does, and exits as for one', async (t) => {
  const [text, env, expected] = CONFIGURATIONS.at(-1) ?? ['', {}, /./]
  const { code, stderr } = await runCommand(['config'], { env: configured(t, text, env) })
  t.is(code, 78)
  assertExplained(t, stderr, expected)
})

test('places: a database file that is taken away makes /ready 503 and is logged, and back again', async (t) => {
  const { path: dataDir } = createPluginDirectory(t)
  const gateway = await startGatewayProcess({ SVC_DATA_DIR: dataDir, SVC_COST_PER_DAY: '5' })
  // Without its file it would wait until the last settlement is written.
  t.teardown(() => gateway.stop(0))
  const ready = () => send(gateway.url, { method: 'GET', path: '/ready' })
  const asked = () =>
    send(gateway.url, { body: ask('hi', { model: 'demo/echo' }), headers: { 'x-svc-pipe': 'cost-guard' } })
  t.is((await ready()).status, 200)
  t.is((await asked()).status, 200)
  const [file, away] = [path.join(dataDir, 'turnpike.db'), path.join(dataDir, 'away.db')]
  renameSync(file, away)
  t.like(await ready(), { status: 503, json: { status: 'failing' } })
  await eventually(() => gateway.log().includes('"store.file-lost"'), 'the log has it')
  t.regex(gateway.log(), new RegExp(`"file":"${file}".*"store\\.file-lost"`))
  t.is((await asked()).status, 503, 'nothing is spent that would be forgotten')
  renameSync(away, file)
  t.is((await ready()).status, 200)
  t.is((await asked()).status, 200)
  rmSync(file)
  t.is((await ready()).status, 503)
})
