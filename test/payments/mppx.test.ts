import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { Receipt } from 'mppx'
import { Mppx, stripe } from 'mppx/client'
import { ask } from '../support/http-client.ts'
import { booksOf, grantToken } from '../support/stripe/machine-payments.ts'
import { AGENT, openBooth } from './booth.ts'

const booth = await openBooth()
test.after.always(booth.close)

const run = promisify(execFile)
const CLI = path.resolve(import.meta.dirname, '../../node_modules/mppx/dist/bin.js')

/** The stock client, with a wallet that grants what it is asked for; `asked` are the challenges it has paid. */
function createClient({ card = 'good' }: { card?: 'good' | 'declined' } = {}) {
  const asked: { amount: string; currency: string; networkId: string | undefined }[] = []
  const client = Mppx.create({
    polyfill: false,
    methods: [
      stripe({
        paymentMethod: 'pm_card_visa',
        async createToken({ amount, currency, networkId, expiresAt }) {
          asked.push({ amount, currency, networkId })
          return grantToken(booth.stripe.world, { card, maxCents: Number(amount), expiresAtS: Number(expiresAt) })
        },
      }),
    ],
  })
  return { client, asked }
}

const url = () => `${booth.url}${AGENT}`
const init = (body: object) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

for (const stream of [false, true])
  test.serial(`mppx: the stock client pays us and reads its receipt (${stream ? 'stream' : 'json'})`, async (t) => {
    const before = booksOf(booth.stripe.world)
    const { client, asked } = createClient()
    const response = await client.fetch(url(), init(ask('hello', { stream })))
    t.is(response.status, 200)
    const text = await response.text()
    t.true(stream ? text.includes('event: message_stop') : JSON.parse(text).type === 'message')
    t.deepEqual(asked, [{ amount: '50', currency: 'usd', networkId: 'profile_test_1' }])
    const { status, method, reference } = Receipt.fromResponse(response)
    t.deepEqual([status, method], ['success', 'stripe'])
    t.is(booth.stripe.world.objects.get('payment_intent', reference).status, 'succeeded')
    t.is(booksOf(booth.stripe.world).capturedCents - before.capturedCents, 50)
  })

test.serial('mppx: the stock client whose card is declined is charged nothing, however often it tries', async (t) => {
  const before = booksOf(booth.stripe.world)
  const { client } = createClient({ card: 'declined' })
  const response = await client.fetch(url(), init(ask('hello'))).catch((error: unknown) => error)
  if (response instanceof Response) t.is(response.status, 402)
  t.is(booksOf(booth.stripe.world).capturedCents, before.capturedCents)
  t.is(booksOf(booth.stripe.world).heldCents, 0)
})

/** Runs the command line of mppx against the gateway, its wallet being the stand-in. */
async function runCli(args: readonly string[]): Promise<{ code: number; text: string }> {
  const env = {
    PATH: process.env.PATH,
    HOME: tmpdir(),
    MPPX_STRIPE_SECRET_KEY: booth.stripe.key,
    MPPX_STRIPE_SPT_URL: `${booth.stripe.url}/v1/test_helpers/shared_payment/granted_tokens`,
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

test.serial('mppx: the command line pays us', async (t) => {
  const before = booksOf(booth.stripe.world)
  const args = ['-X', 'POST', '-J', JSON.stringify(ask('hello')), '-i', '-M', 'paymentMethod=pm_card_visa', url()]
  const { code, text } = await runCli(args)
  t.is(code, 0, text)
  t.regex(text, /payment-receipt/i)
  t.is(booksOf(booth.stripe.world).capturedCents - before.capturedCents, 50, text)
})

/** What its validation holds against a host that is not the realm: on loopback it never is. */
const ABOUT_LOOPBACK = /Realm matches server hostname/

test.serial('mppx: its validation finds nothing but that a loopback address is not the realm', async (t) => {
  const body = JSON.stringify(ask('hello'))
  const { text } = await runCli(['validate', booth.url, '--yes', '--endpoint', `POST:${AGENT}`, '--body', body])
  const findings = text.split('\n').filter((line) => /[✗⚠◇]/.test(line))
  t.deepEqual(
    findings.filter((line) => !ABOUT_LOOPBACK.test(line)),
    [],
    text,
  )
  t.regex(text, /2\d passed|1\d passed/)
})
