import test from 'ava'
import { runCommandInThread } from '../support/command-in-thread.ts'
import { booksOf, machinePayments } from '../support/stripe/machine-payments.ts'
import { startStripe } from '../support/stripe/stand-in.ts'
import { agentFixtureEnvironment } from './agent-fixture.ts'

test('doctor: with a test key a payment is tried to its end, and nothing is left', async (t) => {
  const stripe = await startStripe({ departments: [machinePayments] })
  t.teardown(stripe.close)
  const { code, stdout, stderr } = await runCommandInThread(['mpp', 'doctor'], { env: agentFixtureEnvironment(stripe) })
  t.is(code, 0, stdout + stderr)
  t.is(stdout.match(/^ok/gm)?.length, 7, stdout)
  t.deepEqual(booksOf(stripe.world).statuses, ['canceled'])
  t.false((stdout + stderr).includes('spt_'))
})

test('doctor: for an account that cannot hold such money it advises to charge at once', async (t) => {
  const stripe = await startStripe({
    departments: [
      (world, request) => {
        const { capture_method: _, ...form } = request.form
        return machinePayments(world, { ...request, form })
      },
    ],
  })
  t.teardown(stripe.close)
  const { code, stdout } = await runCommandInThread(['mpp', 'doctor'], { env: agentFixtureEnvironment(stripe) })
  t.is(code, 1)
  t.regex(stdout, /FAILED {2}The money is held: it is captured; set the other `mpp.settlement`/)
})

test('doctor: missing settings and Stripe’s refusal of the key are reported', async (t) => {
  const stripe = await startStripe({ departments: [machinePayments] })
  t.teardown(stripe.close)
  const nothing = await runCommandInThread(['mpp', 'doctor'])
  t.is(nothing.code, 1)
  t.is(nothing.stdout.match(/^FAILED/gm)?.length, 4, nothing.stdout)
  const env = { ...agentFixtureEnvironment(stripe), STRIPE_SECRET_KEY: 'sk_test_other' }
  const wrong = await runCommandInThread(['mpp', 'doctor'], { env })
  t.is(wrong.code, 1)
  t.regex(wrong.stdout, /FAILED {2}A wallet grants a test token: StripeAuthenticationError/)
  t.false((wrong.stdout + wrong.stderr).includes('sk_test_other'))
})

test('doctor: with a live key no money moves', async (t) => {
  const stripe = await startStripe({ key: 'sk_live_1', departments: [machinePayments] })
  t.teardown(stripe.close)
  const { code, stdout } = await runCommandInThread(['mpp', 'doctor'], { env: agentFixtureEnvironment(stripe) })
  t.is(code, 0, stdout)
  t.is(stripe.seen.length, 0)
})
