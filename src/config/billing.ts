import { z } from 'zod'
import { duration } from '../core/units.ts'
import { fromEnv } from '../providers/options.ts'

const address = z.url({ protocol: /^https?$/, error: 'expected an http(s) address' })
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]'])

/** Plain http would expose the key on the network. */
const apiAddress = z.url({ protocol: /^https?$/, error: 'expected an https address', abort: true }).refine((text) => {
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || LOOPBACK.has(hostname)
}, 'expected an https address; http is for 127.0.0.1 only')

const price = (env: string, what: string) =>
  fromEnv(
    z
      .string()
      .regex(/^price_/, 'expected a price’s id, `price_…`')
      .optional(),
    env,
  ).describe(`${what} \`turnpike stripe setup\` prints it.`)

const credits = z.int().min(0).max(1_000_000_000)

/** Payment of accounts through Stripe. */
export const billing = z.strictObject({
  secret_key: fromEnv(z.string().min(1).optional(), 'STRIPE_SECRET_KEY', { secret: true }).describe(
    'Secret or restricted key of your Stripe account, `sk_live_…`, `sk_test_…`, `rk_…`. Unset: purchases are off, and checkout answers 503.',
  ),
  webhook_secrets: fromEnv(z.array(z.string().startsWith('whsec_')).default([]), 'STRIPE_WEBHOOK_SECRET', {
    secret: true,
  }).describe(
    'Signing secrets of the webhook endpoint, `whsec_…`. While you rotate them, give both. In the environment: separated by commas.',
  ),
  price_pro: price('STRIPE_PRICE_PRO', 'Price of the plan `pro`.'),
  price_team: price('STRIPE_PRICE_TEAM', 'Price of the plan `team`.'),
  price_overage: price(
    'STRIPE_PRICE_OVERAGE',
    'Metered price of calls beyond a plan. Set: subscriptions carry it, and such calls are reported hour by hour.',
  ),
  portal: fromEnv(z.string().startsWith('bpc_').optional(), 'STRIPE_PORTAL').describe(
    'Configuration of the customer portal, `bpc_…`. Unset: the default one of your Stripe account.',
  ),
  api_base: fromEnv(apiAddress.optional(), 'STRIPE_API_BASE').describe(
    'Base URL of Stripe’s API, for tests: https, or http on 127.0.0.1.',
  ),
  credits_pro: credits
    .default(500_000)
    .describe(
      'Credits granted for each paid period of `pro` at its list price, in addition to the plan’s quota; a discount lowers them by its share. 100,000 are 1 USD.',
    ),
  credits_team: credits.default(2_000_000).describe('Credits granted for each paid period of `team`, likewise.'),
  credits_trial: credits
    .default(0)
    .describe('Credits granted for a free trial, once for each account. 0: a trial has the plan’s quota only.'),
  allowed_origins: fromEnv(z.array(address).default([]), 'SVC_BILLING_ORIGINS').describe(
    'Origins to which checkout and portal may redirect users, e.g. `https://app.example.com`; the dashboard’s is always allowed. Empty: any http(s) address. In the environment: separated by commas.',
  ),
  recharge_interval: fromEnv(duration({ min: '100ms', max: '10m' }).prefault('2s'), 'SVC_RECHARGE_INTERVAL').describe(
    'Interval between checks for accounts below their recharge threshold. Until the recharge, calls without credits are refused.',
  ),
  meter_interval: fromEnv(duration({ min: '100ms', max: '1h' }).prefault('1m'), 'SVC_METER_INTERVAL').describe(
    'Interval between reports of overage hours to Stripe.',
  ),
})
