import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { mintSessionToken } from '../../src/accounts/sessions/mint.ts'
import { listOptions } from '../../src/config/options.ts'
import { configSchema } from '../../src/config/schema.ts'
import { CLOUD } from '../support/accounts.ts'
import { eventually } from '../support/eventually.ts'
import { openFixture } from '../support/fixture.ts'
import { startGateway } from '../support/gateway.ts'
import { ask, type Reply, send } from '../support/http-client.ts'

/*
 * The operator's own secrets: each secret option of the configuration has one, of no form that would tell. After mixed
 * traffic, all that the gateway has said and written is searched. The secrets of callers: `test/accounts/canary.test.ts`.
 */

const MARK = 'canaryofoperator'
let made = 0
const canary = (before = '', after = '') => `${before}${MARK}${++made}${'x'.repeat(24)}${after}`
const PROVIDER_KEY = canary()

/** Secret options that cannot be tried here, and why. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  database_url: 'needs a database; below, one that is not there',
  redis_url: 'needs a server; below, one that is not there',
  'sessions.secret': 'has a value of its own',
  'providers.anthropic.api_key': 'has a value of its own',
}

const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-canaries-'))
const secretOptions = listOptions(configSchema).filter((option) => option.secret === true)
const config: Record<string, unknown> = {}
const env: Record<string, string> = { ANTHROPIC_API_KEY: PROVIDER_KEY, SVC_SESSION_SECRET: canary() }
for (const option of secretOptions) {
  const name = option.path.join('.')
  if (name in ELSEWHERE || option.path.includes('<name>') || option.schema.def.type === 'record') continue
  const forms: Record<string, [before: string, after?: string]> = {
    'billing.webhook_secrets': ['whsec_'],
    'alerts.smtp.url': ['smtps://u:', '@127.0.0.1:9'],
  }
  if (option.env !== undefined) env[option.env] = name === 'providers.proxy' ? '' : canary(...(forms[name] ?? []))
}
const mine = { base_url: 'http://127.0.0.1:9/v1', api_key: canary(), headers: { 'x-token': canary() } }
config.providers = { tries: 1, 'openai-compatible': { mine } }
// It refuses what it is sent, which is logged; an unreachable one would be tried for ten seconds.
const collector = createServer((_, response) => response.writeHead(400).end()).listen(0, '127.0.0.1')
await once(collector, 'listening')
const { port } = collector.address() as AddressInfo // safe: it listens on TCP
config.tracing = { endpoint: `http://127.0.0.1:${port}`, headers: { 'x-key': canary() } }
config.billing = { api_base: 'http://127.0.0.1:9' }

const fixture = await openFixture({
  provider: { acceptAnything: true },
  config,
  env: {
    ...CLOUD,
    ...env,
    SVC_DATA_DIR: folder,
    LOG_LEVEL: 'debug',
    SVC_MPP: 'on',
    SVC_MPP_NETWORK_ID: 'profile_1',
    SVC_MPP_REALM: 'a.example',
  },
})
const said: Reply[] = []
test.after.always(async () => {
  await fixture.close()
  collector.close()
  rmSync(folder, { recursive: true, force: true })
})
const keep = async (reply: Promise<Reply>) => {
  said.push(await reply)
  return said.at(-1)
}

test.serial('canaries: there is one for most secret options', (t) => {
  t.true(secretOptions.length >= 15, `${secretOptions.length} secret options`)
  t.true(made >= 12, `${made} canaries`)
})

test.serial('canaries: mixed traffic, with providers that repeat the credentials they receive', async (t) => {
  const token = await sessionTokenOf('alice')
  const { key } = await createKeyOf(token)
  const bearer = { authorization: `Bearer ${key}` }
  const echo = JSON.stringify({
    type: 'error',
    error: { type: 'e', message: `wrong key ${PROVIDER_KEY}, x-api-key: ${PROVIDER_KEY}` },
  })
  for (const status of [400, 401, 403, 404, 429, 500, 503, 529]) {
    const scenario = fixture.scenario({ kind: 'reply', status, body: echo })
    const reply = await keep(scenario.send({ body: ask('hi'), headers: bearer }))
    t.true((reply?.status ?? 0) >= 400)
    t.is(scenario.seen()[0]?.headers['x-api-key'], PROVIDER_KEY)
  }
  await keep(fixture.scenario().send({ body: ask('hi', { stream: true }), headers: bearer }))
  await keep(fixture.scenario({ kind: 'break', at: 'before-headers' }).send({ body: ask('hi'), headers: bearer }))
  for (const model of ['mine/x', 'openai/gpt-5', 'gemini/gemini-2.5-pro', 'bedrock/x', 'vertex/x', 'nobody/x'])
    await keep(fixture.scenario().send({ body: ask('hi', { model }), headers: bearer }))
  for (const route of [
    '/v1/models',
    '/v1/receipts',
    '/health',
    '/metrics',
    '/openapi.json',
    '/llms.txt',
    '/.well-known/mpp',
    '/v1/billing/balance',
    '/v1/keys',
    '/v1/agent/ledger',
    '/dashboard/api/settings',
    '/dashboard/api/plugins',
    '/dashboard/api/overview',
  ])
    for (const authorization of [bearer.authorization, `Bearer ${token}`])
      await keep(send(fixture.gateway.url, { method: 'GET', path: route, headers: { authorization } }))
  await keep(fixture.scenario().send({ path: '/v1/agent/messages', body: ask('hi') }))
  await keep(
    fixture.scenario().send({ path: '/v1/billing/webhook', body: '{}', headers: { 'stripe-signature': 't=1,v1=0' } }),
  )
  await keep(
    send(fixture.gateway.url, {
      path: '/v1/billing/checkout',
      body: { plan: 'pro' },
      headers: { authorization: `Bearer ${token}` },
    }),
  )
  t.true(said.length > 40)
})

test.serial('canaries: nothing sent, logged or stored holds a secret of the operator', async (t) => {
  await fixture.gateway.stop()
  const told = said.map(({ text, headers, status }) => `${status} ${text} ${JSON.stringify(headers)}`)
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const stored = files.map(({ parentPath, name }) => readFileSync(path.join(parentPath, name), 'latin1'))
  t.true(stored.some((text) => text.startsWith('SQLite format 3')))
  t.true(fixture.gateway.log().length > 2000)
  for (const text of [...told, ...fixture.gateway.log().split('\n'), ...stored])
    if (text.includes(MARK)) t.fail(text.slice(Math.max(0, text.indexOf(MARK) - 300)).slice(0, 600))
  t.pass()
})

for (const [variable, scheme, database] of [
  ['DATABASE_URL', 'postgres', 'turnpike'],
  ['REDIS_URL', 'redis', '3'],
] as const)
  test(`canaries: a ${variable} that leads nowhere is reported without its password`, async (t) => {
    const secret = canary()
    const url = `${scheme}://user:${secret}@127.0.0.1:1/${database}`
    const text = await startGateway({ [variable]: url, LOG_LEVEL: 'debug' }).then(
      async (gateway) => {
        await eventually(() => gateway.log().includes('store.failed'), 'the outage is logged')
        await gateway.stop()
        return gateway.log()
      },
      (error: Error) => error.message,
    )
    t.regex(text, /ECONNREFUSED/)
    t.false(text.includes(secret), text.slice(0, 1000))
  })

/** Signs session tokens of this file with a canary. */
function sessionTokenOf(userId: string): Promise<string> {
  const secret = env.SVC_SESSION_SECRET ?? ''
  const none = { issuer: undefined, audience: undefined, azp: [] }
  return mintSessionToken({ secret, userId, userClaim: 'sub', ...none, nowMs: Date.now(), ttlMs: 3_600_000 })
}

async function createKeyOf(token: string): Promise<{ key: string }> {
  const reply = await send(fixture.gateway.url, {
    path: '/v1/keys',
    body: {},
    headers: { authorization: `Bearer ${token}` },
  })
  if (reply.status !== 201) throw new Error(`The key was not made: ${reply.status} ${reply.text}`)
  return reply.json as { key: string } // safe: as documented
}
