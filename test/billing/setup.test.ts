import test from 'ava'
import { runCommandInThread } from '../support/command-in-thread.ts'
import { type JsonObject, valueAt } from '../support/json.ts'
import { startStripe } from '../support/stripe/stand-in.ts'

const KINDS = ['product', 'price', 'billing.meter', 'billing_portal.configuration', 'webhook_endpoint'] as const

test('stripe setup: creates every object once, and prints the variables to set', async (t) => {
  const stripe = await startStripe()
  t.teardown(stripe.close)
  const env = {
    STRIPE_SECRET_KEY: stripe.key,
    STRIPE_API_BASE: stripe.url,
    SVC_PUBLIC_URL: 'https://gateway.example.com',
  }
  const run = (...args: string[]) => runCommandInThread(['stripe', 'setup', ...args], { env })
  const counts = () => KINDS.map((kind) => stripe.world.objects.all(kind).length)

  const first = await run('--overage', '0.0001')
  t.is(first.code, 0, first.stderr)
  const variables = Object.fromEntries(
    first.stdout.split('\n').flatMap((line) => (/^[A-Z]/.test(line) ? [line.split('=')] : [])),
  )
  t.deepEqual(Object.keys(variables), [
    'STRIPE_PRICE_PRO',
    'STRIPE_PRICE_TEAM',
    'STRIPE_PRICE_OVERAGE',
    'STRIPE_PORTAL',
    'STRIPE_WEBHOOK_SECRET',
  ])
  t.deepEqual(counts(), [3, 3, 1, 1, 1])
  t.like(stripe.world.objects.get('price', variables.STRIPE_PRICE_OVERAGE), { unit_amount_decimal: '0.01' })
  t.like(stripe.world.objects.get('price', variables.STRIPE_PRICE_PRO), { unit_amount_decimal: '2000' })
  const [endpoint] = stripe.world.objects.all('webhook_endpoint')
  t.is(endpoint?.url, 'https://gateway.example.com/v1/billing/webhook')
  t.true(JSON.stringify(endpoint).includes('"invoice.paid"'))

  const second = await run('--overage', '0.0001')
  t.is(second.code, 0, second.stderr)
  t.deepEqual(counts(), [3, 3, 1, 1, 1])
  t.regex(second.stdout, new RegExp(`STRIPE_PRICE_PRO=${variables.STRIPE_PRICE_PRO}\n`))
  t.notRegex(second.stdout, /STRIPE_WEBHOOK_SECRET=/)

  const portal = stripe.world.objects.get('billing_portal.configuration', String(variables.STRIPE_PORTAL))
  const atPeriodEnd = [{ type: 'decreasing_item_amount' }, { type: 'shortening_interval' }]
  const conditions = 'features.subscription_update.schedule_at_period_end.conditions'
  t.deepEqual(valueAt(portal as unknown as JsonObject, conditions), atPeriodEnd)
  // The form that an older version created.
  delete (portal.features as { subscription_update: JsonObject }).subscription_update.schedule_at_period_end
  const third = await run('--overage', '0.0001')
  t.is(third.code, 0, third.stderr)
  t.deepEqual(valueAt(portal as unknown as JsonObject, conditions), atPeriodEnd, 'an existing portal is updated')
  t.deepEqual(counts(), [3, 3, 1, 1, 1])

  const raised = await run('--overage', '0.0001', '--pro', '25')
  t.is(raised.code, 0, raised.stderr)
  t.deepEqual(counts(), [3, 4, 1, 2, 1], 'a new price, and a portal that offers it')
  t.notRegex(raised.stdout, new RegExp(`STRIPE_PRICE_PRO=${variables.STRIPE_PRICE_PRO}\n`))
})

test('stripe setup: errors name the missing or invalid setting, and never the key', async (t) => {
  const stripe = await startStripe()
  t.teardown(stripe.close)
  const unset = await runCommandInThread(['stripe', 'setup'])
  t.is(unset.code, 78)
  t.regex(unset.stderr, /STRIPE_SECRET_KEY/)
  const env = { STRIPE_SECRET_KEY: 'sk_test_canary', STRIPE_API_BASE: stripe.url }
  const refused = await runCommandInThread(['stripe', 'setup'], { env })
  t.is(refused.code, 1)
  t.regex(refused.stderr, /refuses the key/)
  t.false(refused.stderr.includes('canary'))
  const invalid = await runCommandInThread(['stripe', 'setup', '--pro', 'cheap'], { env })
  t.is(invalid.code, 2)
  t.regex(invalid.stderr, /expected US dollars/)
})
