import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { Receipt } from 'mppx'
import { Mppx, stripe as stripeMethod } from 'mppx/client'
import { AGENT, type AgentFixture, openAgentFixture } from '../payments/agent-fixture.ts'
import { ask } from '../support/http-client.ts'
import { booksOf, grantToken } from '../support/stripe/machine-payments.ts'

const agentFixture = await openAgentFixture()
test.after.always(agentFixture.close)

const run = promisify(execFile)
const CLI = path.resolve(import.meta.dirname, 'node_modules/mppx/dist/bin.js')

/** The stock client, with a wallet that grants what it is asked for; `asked` are the challenges it has paid. */
function createClient({ card = 'good' }: { card?: 'good' | 'declined' } = {}) {
  const asked: { amount: string; currency: string; networkId: string | undefined }[] = []
  const client = Mppx.create({
    polyfill: false,
    methods: [
      stripeMethod({
        paymentMethod: 'pm_card_visa',
        async createToken({ amount, currency, networkId, expiresAt }) {
          asked.push({ amount, currency, networkId })
          return grantToken(agentFixture.stripe.world, {
            card,
            maxCents: Number(amount),
            expiresAtS: Number(expiresAt),
          })
        },
      }),
    ],
  })
  return { client, asked }
}

const url = () => `${agentFixture.url}${AGENT}`
const init = (body: object) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

for (const stream of [false, true])
  test.serial(`mppx: the stock client pays us and reads its receipt (${stream ? 'stream' : 'json'})`, async (t) => {
    const before = booksOf(agentFixture.stripe.world)
    const { client, asked } = createClient()
    const response = await client.fetch(url(), init(ask('hello', { stream })))
    t.is(response.status, 200)
    const text = await response.text()
    t.true(stream ? text.includes('event: message_stop') : JSON.parse(text).type === 'message')
    t.deepEqual(asked, [{ amount: '50', currency: 'usd', networkId: 'profile_test_1' }])
    const { status, method, reference } = Receipt.fromResponse(response)
    t.deepEqual([status, method], ['success', 'stripe'])
    t.is(agentFixture.stripe.world.objects.get('payment_intent', reference).status, 'succeeded')
    t.is(booksOf(agentFixture.stripe.world).capturedCents - before.capturedCents, 50)
  })

test.serial('mppx: the stock client whose card is declined is charged nothing, however often it tries', async (t) => {
  const before = booksOf(agentFixture.stripe.world)
  const { client } = createClient({ card: 'declined' })
  const response = await client.fetch(url(), init(ask('hello'))).catch((error: unknown) => error)
  if (response instanceof Response) t.is(response.status, 402)
  t.is(booksOf(agentFixture.stripe.world).capturedCents, before.capturedCents)
  t.is(booksOf(agentFixture.stripe.world).heldCents, 0)
})

test.serial('mppx: the stock client whose answer fails pays once, and is charged nothing', async (t) => {
  const before = booksOf(agentFixture.stripe.world)
  agentFixture.fixture.provider.reply({ kind: 'error', status: 500 })
  const { client, asked } = createClient()
  const response = await client.fetch(url(), init(ask('hello')))
  agentFixture.fixture.provider.reply({ kind: 'answer' })
  t.is(response.status, 502)
  t.is(asked.length, 1, 'it was shown no other challenge to pay')
  t.is(booksOf(agentFixture.stripe.world).capturedCents, before.capturedCents)
})

/** Runs the command line of mppx against the gateway, its wallet being the stand-in. */
async function runCli({ stripe }: AgentFixture, args: readonly string[]): Promise<{ code: number; text: string }> {
  const env = {
    PATH: process.env.PATH,
    HOME: tmpdir(),
    MPPX_STRIPE_SECRET_KEY: stripe.key,
    MPPX_STRIPE_SPT_URL: `${stripe.url}/v1/test_helpers/shared_payment/granted_tokens`,
    NO_COLOR: '1',
  }
  try {
    const { stdout, stderr } = await run(process.execPath, [CLI, ...args], { env, timeout: 50_000 })
    return { code: 0, text: stdout + stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string } // safe: execFile's own
    return { code, text: `${stdout}${stderr}` }
  }
}

for (const stream of [false, true])
  test.serial(`mppx: the command line pays us (${stream ? 'stream' : 'json'})`, async (t) => {
    const before = booksOf(agentFixture.stripe.world)
    const body = JSON.stringify(ask('hello', { stream }))
    const args = ['-X', 'POST', '-J', body, '-i', '-M', 'paymentMethod=pm_card_visa', url()]
    const { code, text } = await runCli(agentFixture, args)
    t.is(code, 0, text)
    t.regex(text, /payment-receipt/i)
    t.regex(text, stream ? /message_stop/ : /"type": ?"message"/)
    t.is(booksOf(agentFixture.stripe.world).capturedCents - before.capturedCents, 50, text)
  })

/** Returns the result of its validation of a gateway: the passed checks, and all that failed. */
async function validate(of: AgentFixture): Promise<{ passed: number; findings: string[]; text: string }> {
  const body = JSON.stringify(ask('hello'))
  const { text } = await runCli(of, ['validate', of.url, '--yes', '--endpoint', `POST:${AGENT}`, '--body', body])
  const lines = text.split('\n').map((line) => line.trim())
  return {
    passed: lines.filter((line) => line.startsWith('✓')).length,
    findings: lines.filter((line) => /^[✗⚠◇○]/.test(line)),
    text,
  }
}

test.serial(
  'mppx: its validation finds nothing, but that a realm is not the loopback address where it is not',
  async (t) => {
    const before = booksOf(agentFixture.stripe.world)
    const named = await validate(agentFixture)
    t.deepEqual(named.findings, ['⚠ Realm matches server hostname (realm="gw.test" vs host="127.0.0.1")'], named.text)
    t.true(named.passed >= 17, named.text)
    t.is(booksOf(agentFixture.stripe.world).capturedCents - before.capturedCents, 50, 'it has paid')
    await using loopback = await openAgentFixture({ SVC_MPP_REALM: '127.0.0.1' })
    const { findings, passed, text } = await validate(loopback)
    t.deepEqual(findings, [], text)
    t.is(passed, named.passed + 1, text)
    // It would find something where there is something: here, nothing is sold.
    await using closed = await openAgentFixture({ SVC_MPP: 'off' })
    const { findings: found, text: told } = await validate(closed)
    t.true(found.length > 0, told)
  },
)
