import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { createPaymentStore } from '../../src/stores/sql/payments/payment-store.ts'
import { openSqlStore } from '../../src/stores/sql/store.ts'
import { runCommandInThread } from '../support/command-in-thread.ts'
import { eventually } from '../support/eventually.ts'
import { startGateway } from '../support/gateway.ts'
import { send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { createRecordingLog } from '../support/recording-log.ts'

/*
 * One gateway in local mode with the sandbox and the demo models alone.
 */
const AGENT = '/v1/agent/messages'
const WALLET = '/v1/agent/sandbox/tokens'
const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-sandbox-'))
const gateway = await startGateway({ SVC_MPP: 'sandbox', SVC_DATA_DIR: folder, SVC_PIPELINE: 'none' })
const { url } = gateway

test.after.always('stop the gateway', async () => {
  await gateway.stop()
  rmSync(folder, { recursive: true, force: true })
})

const bodyOf = (text: string) => ({ model: 'demo/echo', max_tokens: 50, messages: [{ role: 'user', content: text }] })
const post = (pathname: string, body: object, headers: Record<string, string> = {}) =>
  send(url, { path: pathname, body: { ...body }, headers: { authorization: undefined, ...headers } })

type Challenge = Record<string, string>

async function challengeFor(text: string): Promise<Challenge> {
  const { headers, status } = await post(AGENT, bodyOf(text))
  if (status !== 402) throw new Error(`expected 402, got ${status}`)
  return Object.fromEntries(
    [...String(headers['www-authenticate']).matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  )
}

async function tokenFor(amount: number): Promise<string> {
  return String(valueAt((await post(WALLET, { amount })).json, 'id'))
}

function pay(text: string, challenge: Challenge, spt: string) {
  const credential = Buffer.from(JSON.stringify({ challenge, payload: { spt } })).toString('base64url')
  return post(AGENT, bodyOf(text), { authorization: `Payment ${credential}` })
}

const decoded = (text: unknown): unknown => JSON.parse(Buffer.from(String(text), 'base64url').toString())

test('sandbox: an agent pays a challenge without Stripe, and challenge, reply, receipt and ledger name the sandbox', async (t) => {
  const challenge = await challengeFor('paid')
  t.like(challenge, { realm: 'sandbox.localhost', method: 'stripe' })
  t.regex(challenge.description ?? '', /^Sandbox: no money moves/)
  t.like(decoded(challenge.request), { amount: '50', methodDetails: { networkId: 'profile_sandbox' } })
  const reply = await pay('paid', challenge, await tokenFor(50))
  t.is(reply.status, 200, reply.text)
  t.regex(String(reply.headers['x-svc-sandbox']), /no money moves/)
  const { reference } = decoded(reply.headers['payment-receipt']) as { reference: string }
  t.regex(reference, /^sandbox_pi_/)
  const latest = async () => valueAt((await send(url, { method: 'GET', path: '/v1/agent/ledger' })).json, 'data.0')
  await eventually(async () => valueAt(await latest(), 'status') === 'delivered', 'the delivery is recorded')
  t.like(await latest(), { method: 'sandbox' })
  const discovery = await send(url, { method: 'GET', path: '/.well-known/mpp' })
  t.is(valueAt(discovery.json, 'payment_methods.0.status'), 'sandbox')
  const session = await send(url, { method: 'GET', path: '/dashboard/api/session' })
  t.is(valueAt(session.json, 'agents'), 'sandbox')
})

test('sandbox: a token pays once, up to its amount, until its end, and only here', async (t) => {
  const token = await tokenFor(50)
  t.is((await pay('first', await challengeFor('first'), token)).status, 200)
  const nothing = `spt_sandbox_50_9999999999_${'0'.repeat(24)}_${'0'.repeat(64)}`
  const ended = valueAt((await post(WALLET, { amount: 50, expires_at: 1_000_000_000 })).json, 'id')
  const tries: [string, RegExp][] = [
    [token, /used before/],
    [await tokenFor(49), /at most 49 cents/],
    [String(ended), /expired/],
    [nothing, /not of this sandbox/],
    ['spt_of_stripe', /not of this sandbox/],
  ]
  for (const [spt, words] of tries) {
    const reply = await pay('refused', await challengeFor('refused'), spt)
    t.is(reply.status, 402)
    t.regex(reply.text, words)
  }
  t.is((await post(WALLET, { amount: 0 })).status, 400)
  t.is((await post(WALLET, { amount: 1_000_001 })).status, 400)
})

test('sandbox: its payments are in a database of their own, and in no book of real ones', async (t) => {
  await pay('booked', await challengeFor('booked'), await tokenFor(50))
  const dashboard = await send(url, { method: 'GET', path: '/dashboard/api/payments' })
  t.regex(dashboard.text, /sandbox_pi_/)
  const clock = { nowMs: () => Date.now() }
  const options = { databaseUrl: undefined, log: createRecordingLog(), clock, patienceMs: 20_000 }
  const books = async (dataDir: string) => {
    const store = await openSqlStore({ ...options, dataDir })
    const sums = await createPaymentStore(store).report({ sinceMs: 0 })
    await store.close()
    return sums
  }
  t.deepEqual(await books(folder), [])
  t.true((await books(path.join(folder, 'sandbox'))).some(({ book }) => book === 'delivered'))
})

test.serial('sandbox: `turnpike mpp` pays for a call, and labels it and its report', async (t) => {
  const env = { SVC_MPP: 'sandbox', SVC_DATA_DIR: folder }
  const tried = await runCommandInThread(['mpp', 'try', 'What is a toll?', '--url', url], { env })
  t.regex(
    tried.stdout,
    /^SANDBOX: no money moves\n {2}challenge {2}50 cents\n {2}payment {4}sandbox_pi_\w+\n {2}answer .*toll/,
  )
  const report = await runCommandInThread(['mpp', 'report'], { env })
  t.regex(report.stdout, /^SANDBOX: no money has moved\n.*delivered/)
  const doctor = await runCommandInThread(['mpp', 'doctor'], { env })
  t.regex(doctor.stdout, /Sandbox: no money moves/)
})

for (const [claim, env] of [
  ['beside a key of Stripe', { STRIPE_SECRET_KEY: 'sk_test_123456789012345678901234' }],
  ['on an address that other machines reach', { HOST: '0.0.0.0', SVC_LOCAL_OPEN: 'yes' }],
  ['under a public address', { SVC_PUBLIC_URL: 'https://gw.example.com' }],
] as const)
  test(`sandbox: refuses to start ${claim}`, async (t) => {
    const error = await t.throwsAsync(startGateway({ SVC_MPP: 'sandbox', ...env }))
    t.regex(error?.message ?? '', /`sandbox` does not run .*nothing overrides this/)
  })

test('sandbox: without it, neither its wallet nor its mark is there', async (t) => {
  await using real = await startGateway({ SVC_MPP: 'on', SVC_MPP_SECRET: 'x'.repeat(40), SVC_MPP_REALM: 'gw.test' })
  const reply = await send(real.url, { path: WALLET, body: { amount: 50 } })
  t.is(reply.status, 404)
  t.is(reply.headers['x-svc-sandbox'], undefined)
})
