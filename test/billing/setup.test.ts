import test from 'ava'
import { runCommand } from '../support/command-line.ts'
import { type JsonObject, valueAt } from '../support/json.ts'
import { startStripe } from '../support/stripe/stand-in.ts'

const KINDS = ['product', 'price', 'billing.meter', 'billing_portal.configuration', 'webhook_endpoint'] as const

test('stripe setup: makes everything once, and prints what the environment takes', async (t) => {
  const stripe = await startStripe()
  t.teardown(stripe.close)
  const env = {
    STRIPE_SECRET_KEY: stripe.key,
    STRIPE_API_BASE: stripe.url,
    SVC_PUBLIC_URL: 'https://gateway.example.com',
  }
  const run = (...args: string[]) => runCommand(['stripe', 'setup', ...args], { env })
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
  // As an older version has made it.
  delete (portal.features as { subscription_update: JsonObject }).subscription_update.schedule_at_period_end
  const third = await run('--overage', '0.0001')
  t.is(third.code, 0, third.stderr)
  t.deepEqual(valueAt(portal as unknown as JsonObject, conditions), atPeriodEnd, 'a portal that is there is mended')
  t.deepEqual(counts(), [3, 3, 1, 1, 1])

  const dearer = await run('--overage', '0.0001', '--pro', '25')
  t.is(dearer.code, 0, dearer.stderr)
  t.deepEqual(counts(), [3, 4, 1, 2, 1], 'a new price, and a portal that offers it')
  t.notRegex(dearer.stdout, new RegExp(`STRIPE_PRICE_PRO=${variables.STRIPE_PRICE_PRO}\n`))
})

test('stripe setup: says what is missing or wrong, and never the key', async (t) => {
  const stripe = await startStripe()
  t.teardown(stripe.close)
  const none = await runCommand(['stripe', 'setup'])
  t.is(none.code, 78)
  t.regex(none.stderr, /STRIPE_SECRET_KEY/)
  const env = { STRIPE_SECRET_KEY: 'sk_test_canary', STRIPE_API_BASE: stripe.url }
  const refused = await runCommand(['stripe', 'setup'], { env })
  t.is(refused.code, 1)
  t.regex(refused.stderr, /refuses the key/)
  t.false(refused.stderr.includes('canary'))
  const wrong = await runCommand(['stripe', 'setup', '--pro', 'cheap'], { env })
  t.is(wrong.code, 2)
  t.regex(wrong.stderr, /expected US dollars/)
})
