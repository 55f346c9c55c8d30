import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { runCommandInThread } from '../support/command-in-thread.ts'
import { eventually } from '../support/eventually.ts'
import { startGateway } from '../support/gateway.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { createPluginDirectory, pluginSource } from '../support/plugin-folders.ts'
import { childrenOf, hasProcessFacts } from '../support/process-facts.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
const DOCKERFILE = readFileSync(path.join(ROOT, 'Dockerfile'), 'utf8')
/** Many start at the same time. */
const PATIENT = { waitMs: 50_000 }
process.setMaxListeners(50) // every start that runs here has a clean-up of its own

/** Writes a configuration file with this text, removed with the test. */
function configFile(t: ExecutionContext, text: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-config-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const file = path.join(folder, 'turnpike.yaml')
  writeFileSync(file, text)
  return file
}

/** Asserts that a start fails and gives the reason without a stack. */
async function assertRefused(t: ExecutionContext, env: Record<string, string>, expected: RegExp): Promise<void> {
  const error = await t.throwsAsync(startGateway(env).then((gateway) => gateway.stop()))
  assertPlain(t, String(error?.message), expected)
}

/** Asserts that the process, too, writes the reason once, and exits with a code other than 0. */
async function assertExits(t: ExecutionContext, env: Record<string, string>, expected: RegExp): Promise<void> {
  const error = await t.throwsAsync(startGatewayProcess(env, PATIENT).then((gateway) => gateway.stop()))
  const message = String(error?.message)
  t.regex(message, /exited before it answered.*"code":[1-9]/)
  assertPlain(t, message, expected)
}

function assertPlain(t: ExecutionContext, message: string, expected: RegExp): void {
  t.regex(message, expected)
  t.notRegex(message, /\n\s+at |node:internal|unhandled/i)
  t.is(message.match(/turnpike cannot start/g)?.length, 1)
}

test('start: a port in use is explained in plain words', async (t) => {
  const server = createServer((socket) => socket.destroy())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const address = server.address()
  const port = String(typeof address === 'object' ? address?.port : undefined)
  await assertExits(t, { PORT: port }, new RegExp(`EADDRINUSE.*${port}[\\s\\S]*PORT`))
})

const files: [claim: string, text: string, expected: RegExp][] = [
  ['an unknown key', 'server:\n  prot: 1', /unknown option `server\.prot`.*Did you mean `port`/],
  ['an unknown section', 'provider:\n  tries: 1', /unknown option `provider`.*Did you mean `providers`/],
  ['a bad duration', 'server:\n  ping_interval: soon', /`server\.ping_interval`.*100ms.*soon/],
  ['a duration out of bounds', 'server:\n  header_timeout: 1ms', /`server\.header_timeout`.*1s.*1ms/],
  ['a number that is text', 'providers:\n  tries: many', /`providers\.tries`.*many/],
  ['YAML that is none', 'server: [', /not valid YAML/],
  ['a list at the top', '- a', /expected a map of options/],
  [
    'options of a plugin that does not exist',
    'plugins:\n  exact-cash:\n    ttl: 1h',
    /exact-cash.*Did you mean `exact-cache`/,
  ],
  ['a bad option of a plugin', 'plugins:\n  exact-cache:\n    ttl: soon', /exact-cache[\s\S]*ttl/],
  ['a locked plugin that does not exist', 'pipeline:\n  locked: [cost-gard]', /cost-gard/],
]

for (const [claim, text, expected] of files) {
  test(`start: a configuration with ${claim} is explained in plain words`, (t) =>
    assertRefused(t, { SVC_CONFIG: configFile(t, text) }, expected))
}

test('start: every fault of a configuration is reported at once', (t) =>
  assertRefused(
    t,
    { SVC_CONFIG: configFile(t, 'server:\n  prot: 1\n  body_limit: big\nproviders:\n  tries: 0') },
    /prot[\s\S]*body_limit[\s\S]*tries|body_limit[\s\S]*prot[\s\S]*tries|body_limit[\s\S]*tries[\s\S]*prot/,
  ))

const environments: [claim: string, env: Record<string, string>, expected: RegExp][] = [
  ['a configuration file that does not exist', { SVC_CONFIG: '/nowhere/x.yaml' }, /\/nowhere\/x\.yaml.*does not exist/],
  ['an unknown plugin in SVC_PIPELINE', { SVC_PIPELINE: 'exact-cash' }, /exact-cash.*Did you mean `exact-cache`/],
  ['a pipeline that does not parse', { SVC_PIPELINE: 'Exact Cache!' }, /Exact Cache/],
  ['a bad option in SVC_PIPELINE', { SVC_PIPELINE: 'exact-cache?ttl=soon' }, /exact-cache[\s\S]*ttl/],
  ['an unknown mode', { SVC_MODE: 'clout' }, /mode.*clout/],
  ['cloud mode without a way to know its users', { SVC_MODE: 'cloud' }, /mode.*cloud.*SVC_SESSION_JWKS_URL/],
  ['a port out of range', { PORT: '70000' }, /port.*65535/],
  ['an address that is none', { ANTHROPIC_BASE_URL: 'not an address' }, /base_url.*http/],
  ['a plugin folder that does not exist', { SVC_PLUGINS_DIR: '/nowhere/plugins' }, /\/nowhere\/plugins/],
  ['a host that is not of this machine', { HOST: '192.0.2.1', SVC_LOCAL_OPEN: 'yes' }, /192\.0\.2\.1/],
  ['an unknown variable', { SVC_COST_PER_DAYS: '5' }, /`SVC_COST_PER_DAYS`.*Did you mean `SVC_COST_PER_DAY`/],
  ['another unknown variable', { SVC_PIPELIN: 'none' }, /`SVC_PIPELIN`.*Did you mean `SVC_PIPELINE`/],
  ['a variable in mixed case', { Svc_Pipeline: 'none' }, /`Svc_Pipeline`.*Did you mean `SVC_PIPELINE`/],
  [
    'local mode on every interface',
    { HOST: '0.0.0.0' },
    /Local mode beyond loopback needs SVC_LOCAL_OPEN=yes: on 0\.0\.0\.0/,
  ],
  ['local mode on every IPv6 interface', { HOST: '::' }, /Local mode beyond loopback needs SVC_LOCAL_OPEN=yes: on ::/],
]

for (const [claim, env, expected] of environments) {
  test(`start: ${claim} is explained in plain words`, (t) => assertRefused(t, env, expected))
}

test('start: a process that cannot find its plugins exits with the reason, too', (t) =>
  assertExits(t, { SVC_PLUGINS_DIR: '/nowhere/plugins' }, /\/nowhere\/plugins/))

test('start: a secret with a bad value is not repeated', async (t) => {
  const env = { HTTPS_PROXY: 'socks5://user:CANARY@proxy' }
  const error = await t.throwsAsync(startGateway(env).then((gateway) => gateway.stop()))
  t.regex(String(error?.message), /providers\.proxy/)
  t.notRegex(String(error?.message), /CANARY/)
})

test('start: a body_timeout below header_timeout is accepted, or explained in plain words', async (t) => {
  const env = { SVC_CONFIG: configFile(t, 'server:\n  body_timeout: 2s') }
  const message = await startGateway(env).then(
    async (gateway) => String((await gateway.stop()).code),
    (error: Error) => error.message,
  )
  t.notRegex(message, /\n\s+at |node:internal/)
})

test('start: a variable that the configuration file names is known, and an empty one counts as unset', async (t) => {
  const file = configFile(t, ['models:', `  mine: ${'$'}{SVC_MY_MODEL}`].join('\n'))
  const env = { SVC_CONFIG: file, SVC_MY_MODEL: 'demo/echo', SVC_PIPELIN: '' }
  const gateway = await startGateway(env)
  t.is((await gateway.stop()).code, 0)
})

test('start: local mode that is opened to other machines warns, and shows the address it listens on', async (t) => {
  const gateway = await startGateway({ HOST: '0.0.0.0', SVC_LOCAL_OPEN: 'yes' })
  t.teardown(() => gateway.stop())
  await eventually(() => gateway.log().includes('an agent'), 'the banner')
  t.regex(gateway.log(), new RegExp(`WARNING +listens on 0\\.0\\.0\\.0:${gateway.port}: every machine`))
  t.regex(gateway.log(), /"level":40.*gateway\.open-to-others/)
})

for (const [command, ...words] of [
  ['config'],
  ['migrate'],
  ['doctor', '--offline'],
  ['pipeline', 'explain'],
  ['tail'],
]) {
  test(`start: \`turnpike ${command}\` names an unknown variable, too`, async (t) => {
    const env = { SVC_COST_PER_DAYS: '5', SVC_DATA_DIR: path.join(tmpdir(), 'turnpike-never-made') }
    const { code, stdout, stderr } = await runCommandInThread([command ?? '', ...words], { env })
    t.not(code, 0)
    t.regex(stdout + stderr, /`SVC_COST_PER_DAYS`.*Did you mean `SVC_COST_PER_DAY`/)
  })
}

test('start: the command can be executed as it lies in the repository', async (t) => {
  const { stdout } = await promisify(execFile)(path.join(ROOT, 'bin/turnpike.mjs'), ['--version'])
  t.regex(stdout, /^\d+\.\d+\.\d+\n$/)
})

/** Asserts that the gateway below npm has this variable. */
function assertVariable(t: ExecutionContext, npm: ChildProcess, expected: string): void {
  if (!hasProcessFacts) return
  const [gateway] = childrenOf(npm.pid ?? 0)
  const variables = readFileSync(`/proc/${gateway}/environ`, 'utf8').split('\0')
  t.true(variables.includes(expected), expected)
}

test('start: `npm start` sets the allocator as the image does, and SIGTERM to npm alone stops the gateway', async (t) => {
  const inImage = DOCKERFILE.match(/\bMALLOC_\w+=\d+/g) ?? []
  t.is(inImage.length, 2)
  const { npm, log, closed } = await startWithNpm(t)
  for (const variable of inImage) assertVariable(t, npm, variable)
  npm.kill('SIGTERM')
  await closed
  t.regex(log(), /gateway\.stopped/)
})

test('start: `npm start` leaves the allocator to the environment that sets it', async (t) => {
  const { npm } = await startWithNpm(t, { MALLOC_MMAP_THRESHOLD_: '65536', MALLOC_ARENA_MAX: '3' })
  assertVariable(t, npm, 'MALLOC_MMAP_THRESHOLD_=65536')
  assertVariable(t, npm, 'MALLOC_ARENA_MAX=3')
  t.pass()
})

/** Runs `npm start` until the gateway listens; `closed` resolves when npm, its shell and the gateway have ended. */
async function startWithNpm(t: ExecutionContext, variables: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-npm-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, HOST: '127.0.0.1', PORT: '0', SVC_DATA_DIR: folder, ...variables }
  const npm = spawn('npm', ['start', '--silent'], {
    cwd: ROOT,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.teardown(() => killGroup(npm))
  let log = ''
  const closed = new Promise((resolve) =>
    npm.stdout
      .setEncoding('utf8')
      .on('data', (piece) => (log += piece))
      .once('close', resolve),
  )
  await eventually(() => log.includes('gateway.listening'), 'the gateway listens')
  return { npm, log: () => log, closed }
}

test('start: plugins that take long to load are no failure of retention', async (t) => {
  const setup = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3000)'
  const plugins = createPluginDirectory(t, { 'slow/index.ts': pluginSource('slow', { setup }) })
  const gateway = await startGatewayProcess({ SVC_PLUGINS_DIR: plugins.path }, PATIENT)
  t.teardown(() => gateway.stop())
  t.notRegex(gateway.log(), /retention\.failed/)
})

/** Signals the group, which may have ended already, as it should. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {}
}
