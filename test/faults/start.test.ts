import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { startGateway } from '../support/gateway.ts'

/** Many start at the same time. */
const PATIENT = { waitMs: 50_000 }
process.setMaxListeners(50) // every start that runs here has a clean-up of its own

/** A configuration file with this text, removed with the test. */
function configFile(t: ExecutionContext, text: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-config-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const file = path.join(folder, 'turnpike.yaml')
  writeFileSync(file, text)
  return file
}

/** Asserts that a start fails with a code other than 0 and says why without a stack. */
async function assertRefused(t: ExecutionContext, env: Record<string, string>, expected: RegExp): Promise<void> {
  const error = await t.throwsAsync(startGateway(env, PATIENT).then((gateway) => gateway.stop()))
  const message = String(error?.message)
  t.regex(message, /exited before it answered.*"code":[1-9]/)
  t.regex(message, expected)
  t.notRegex(message, /\n\s+at |node:internal|unhandled/i)
  t.is(message.match(/turnpike cannot start/g)?.length, 1)
}

test('start: a port in use is told in plain words', async (t) => {
  const server = createServer((socket) => socket.destroy())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const address = server.address()
  const port = String(typeof address === 'object' ? address?.port : undefined)
  await assertRefused(t, { PORT: port }, new RegExp(`EADDRINUSE.*${port}[\\s\\S]*PORT`))
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
  ['a locked module that does not exist', 'pipeline:\n  locked: [cost-gard]', /cost-gard/],
]

for (const [claim, text, expected] of files) {
  test(`start: a configuration with ${claim} is told in plain words`, (t) =>
    assertRefused(t, { SVC_CONFIG: configFile(t, text) }, expected))
}

test('start: every fault of a configuration is told at once', (t) =>
  assertRefused(
    t,
    { SVC_CONFIG: configFile(t, 'server:\n  prot: 1\n  body_limit: big\nproviders:\n  tries: 0') },
    /prot[\s\S]*body_limit[\s\S]*tries|body_limit[\s\S]*prot[\s\S]*tries|body_limit[\s\S]*tries[\s\S]*prot/,
  ))

const environments: [claim: string, env: Record<string, string>, expected: RegExp][] = [
  ['a configuration file that does not exist', { SVC_CONFIG: '/nowhere/x.yaml' }, /\/nowhere\/x\.yaml.*does not exist/],
  ['an unknown module in SVC_PIPELINE', { SVC_PIPELINE: 'exact-cash' }, /exact-cash.*Did you mean `exact-cache`/],
  ['a pipeline that does not parse', { SVC_PIPELINE: 'Exact Cache!' }, /Exact Cache/],
  ['a bad option in SVC_PIPELINE', { SVC_PIPELINE: 'exact-cache?ttl=soon' }, /exact-cache[\s\S]*ttl/],
  ['an unknown mode', { SVC_MODE: 'clout' }, /mode.*clout/],
  ['cloud mode without a way to know its users', { SVC_MODE: 'cloud' }, /mode.*cloud.*SVC_SESSION_JWKS_URL/],
  ['a port out of range', { PORT: '70000' }, /port.*65535/],
  ['an address that is none', { ANTHROPIC_BASE_URL: 'not an address' }, /base_url.*http/],
  ['a plugin folder that does not exist', { SVC_PLUGINS_DIR: '/nowhere/plugins' }, /\/nowhere\/plugins/],
  ['a host that is not of this machine', { HOST: '192.0.2.1' }, /192\.0\.2\.1/],
]

for (const [claim, env, expected] of environments) {
  test(`start: ${claim} is told in plain words`, (t) => assertRefused(t, env, expected))
}

test('start: a secret with a bad value is not repeated', async (t) => {
  const env = { HTTPS_PROXY: 'socks5://user:CANARY@proxy' }
  const error = await t.throwsAsync(startGateway(env, PATIENT).then((gateway) => gateway.stop()))
  t.regex(String(error?.message), /providers\.proxy/)
  t.notRegex(String(error?.message), /CANARY/)
})

test('start: a body_timeout below header_timeout is taken, or told in plain words', async (t) => {
  const env = { SVC_CONFIG: configFile(t, 'server:\n  body_timeout: 2s') }
  const message = await startGateway(env, PATIENT).then(
    async (gateway) => String((await gateway.stop()).code),
    (error: Error) => error.message,
  )
  t.notRegex(message, /\n\s+at |node:internal/)
})
