import { once } from 'node:events'
import { chmodSync, existsSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { runCommandInThread } from '../support/command-in-thread.ts'
import { runCommand } from '../support/command-line.ts'
import { startGateway } from '../support/gateway.ts'
import { createPluginDirectory } from '../support/plugin-folders.ts'
import { startProvider } from '../support/stand-in-provider.ts'

interface Finding {
  level: 'ok' | 'advice' | 'fault'
  says: string
  mend?: string
}

const NOBODY = 'http://127.0.0.1:9'

async function examine(t: ExecutionContext, env: Record<string, string>, words: readonly string[] = ['--offline']) {
  const { path: folder } = createPluginDirectory(t)
  const place = { SVC_DATA_DIR: path.join(folder, 'data'), PORT: '0' }
  const { code, stdout, stderr } = await runCommandInThread(['doctor', '--json', ...words], {
    env: { ...place, ...env },
  })
  const findings = JSON.parse(stdout || stderr) as Finding[]
  return { code, findings, faults: findings.filter(({ level }) => level === 'fault'), folder }
}

const MISTAKES: Readonly<Record<string, readonly [env: Record<string, string>, says: RegExp]>> = {
  'a provider that is the gateway itself': [
    { PORT: '4321', ANTHROPIC_BASE_URL: 'http://localhost:4321' },
    /`anthropic` is this gateway itself.*from the environment/,
  ],
  'local mode that every machine reaches': [
    { HOST: '0.0.0.0' },
    /every machine that reaches it uses your provider keys/,
  ],
  'cloud mode without users': [{ SVC_MODE: 'cloud' }, /cloud mode cannot start/],
  'a pipeline that names what is not there': [{ SVC_PIPELINE: 'exact-cash' }, /cannot run.*exact-cash/],
  'PostgreSQL that is not there': [{ DATABASE_URL: 'postgres://127.0.0.1:9/x' }, /PostgreSQL does not reply/],
  'Redis that is not there': [{ REDIS_URL: 'redis://127.0.0.1:9' }, /Redis does not reply/],
  'a data folder that is a file': [{ SVC_DATA_DIR: 'package.json' }, /data folder cannot be written/],
  'an option that cannot be': [{ PORT: 'many' }, /server\.port/],
  'billing without webhooks': [
    { SVC_MODE: 'cloud', SVC_SESSION_SECRET: 'x'.repeat(40), STRIPE_SECRET_KEY: 'sk_test_canary' },
    /webhooks cannot be verified/,
  ],
}

for (const [title, [env, says]] of Object.entries(MISTAKES)) {
  test(`doctor: finds ${title}, and suggests the correction`, async (t) => {
    const { code, faults } = await examine(t, env)
    t.is(code, 1)
    const found = faults.find((fault) => says.test(fault.says))
    t.truthy(found, JSON.stringify(faults))
    t.regex(found?.mend ?? '', /\w{3}/)
  })
}

test('doctor: the default configuration has no fault, and no file is created', async (t) => {
  const { code, findings, folder } = await examine(t, {})
  t.is(code, 0)
  t.deepEqual(
    findings.filter(({ level }) => level !== 'ok'),
    [],
  )
  t.false(existsSync(path.join(folder, 'data')))
})

async function listenWith(t: ExecutionContext, handle: RequestListener): Promise<string> {
  const server = createServer(handle).listen(0, '127.0.0.1')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}` // safe: it listens on a port
}

const LISTENERS: Readonly<Record<string, readonly [handle: RequestListener, says: RegExp]>> = {
  'another program': [(_, reply) => reply.end('<html>'), /another program listens/],
  'what does not reply, perhaps a gateway under load': [() => {}, /has not replied within 8 seconds/],
}

for (const [title, [handle, says]] of Object.entries(LISTENERS))
  test(`doctor: on its port it finds ${title}`, async (t) => {
    const { port } = new URL(await listenWith(t, handle))
    const { code, faults } = await examine(t, { PORT: port })
    t.is(code, 1)
    t.deepEqual(
      faults.map((fault) => says.test(fault.says)),
      [true],
      JSON.stringify(faults),
    )
  })

test('doctor: a key that its provider refuses, and a provider that cannot be reached, are different faults', async (t) => {
  const url = await listenWith(t, (_, reply) => {
    reply.writeHead(401, { 'content-type': 'application/json' })
    reply.end('{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}')
  })
  const keys = { ANTHROPIC_API_KEY: 'sk-ant-canary', OPENAI_API_KEY: 'sk-canary' }
  const { code, faults } = await examine(t, { ...keys, ANTHROPIC_BASE_URL: url, OPENAI_BASE_URL: NOBODY }, [])
  t.is(code, 1)
  t.regex(faults.find(({ says }) => says.includes('`anthropic`'))?.says ?? '', /refuses its credential/)
  t.regex(faults.find(({ says }) => says.includes('`openai`'))?.says ?? '', /cannot be called/)
  t.notRegex(JSON.stringify(faults), /canary/)
})

test('doctor: beside a running gateway it finds it, its database and its provider', async (t) => {
  const provider = await startProvider()
  t.teardown(() => provider.close())
  const { path: dataDir } = createPluginDirectory(t)
  const env = { ANTHROPIC_BASE_URL: provider.url, ANTHROPIC_API_KEY: 'sk-ant-x', SVC_DATA_DIR: dataDir }
  const gateway = await startGateway(env)
  t.teardown(() => gateway.stop())
  const { stdout, code } = await runCommand(['doctor'], { env: { ...env, PORT: String(gateway.port) } })
  t.regex(stdout, new RegExp(`^ok {6}a gateway runs on port ${gateway.port}, build dev$`, 'm'))
  t.regex(stdout, /^ok {6}the database is intact$/m)
  t.regex(stdout, /^ok {6}provider `anthropic` replies and has \d+ models$/m)
  t.is(code, 0, stdout)
  chmodSync(path.join(dataDir, 'receipt-key.pem'), 0o644)
  const spied = await runCommandInThread(['doctor', '--offline'], { env: { ...env, PORT: String(gateway.port) } })
  t.regex(
    spied.stdout,
    /^FAULT {3}other users of this machine can read a key that signs receipts\n {8}→ Run `chmod 600/m,
  )
  t.is(spied.code, 1)
})
