import { type Command, InvalidArgumentError, Option } from 'commander'
import type Stripe from 'stripe'
import { billingPartsOf, stripeClientOf } from '../app/billing.ts'
import { isStripeFault } from '../commerce/billing/errors.ts'
import { reconcile } from '../commerce/billing/reconcile.ts'
import { type SetupStep, setUp } from '../commerce/billing/setup.ts'
import { ConfigError } from '../config/config-error.ts'
import { loadConfig } from '../config/load.ts'
import type { Config } from '../config/schema.ts'
import { addHelp } from './help.ts'
import { commandLog } from './offline.ts'
import { withStore } from './with-store.ts'

/** Adds `turnpike stripe`: creates the products, and reconciles lost webhooks. */
export function addStripeCommand(program: Command): void {
  const stripe = program.command('stripe').description('Set up and check billing with Stripe (STRIPE_SECRET_KEY).')
  const setup = stripe
    .command('setup')
    .description('Create products, prices, portal and webhook endpoint at Stripe, where missing.')
    .addOption(usdOption('--pro <usd>', 'price of a month of `pro`, in USD', '20'))
    .addOption(usdOption('--team <usd>', 'price of a month of `team`, in USD', '100'))
    .option('--overage <usd>', 'meter calls beyond a plan, at this price each; 0 shows them on the invoice', toSubCents)
    .option('--url <url>', 'where Stripe sends webhooks (default: below SVC_PUBLIC_URL)')
    .option('--json', 'print JSON')
    .action(runSetup)
  const reconciling = stripe
    .command('reconcile')
    .description('Run the daily reconciliation now: apply lost webhooks of the last three days.')
    .option('--json', 'print JSON')
    .action(runReconcile)
  addHelp(setup, {
    examples: [
      'STRIPE_SECRET_KEY=sk_test_… turnpike stripe setup --url https://gateway.example/v1/billing/webhook',
      'turnpike stripe setup --pro 19.99 --team 99 --overage 0.001',
    ],
    notes: ['Prints the lines for the environment. It is idempotent: existing objects are kept.'],
  })
  addHelp(reconciling, { examples: ['turnpike stripe reconcile'] })
}

async function runSetup({ pro, team, overage, url, json }: SetupOptions): Promise<void> {
  const { config } = loadConfig(process.env)
  const { public_url: publicUrl } = config.server
  const webhookUrl = url ?? (publicUrl && new URL('/v1/billing/webhook', publicUrl).href)
  const wanted = { monthlyCents: { pro, team }, overageCents: overage, webhookUrl }
  const steps = await reported(async () => setUp(await clientOf(config), wanted))
  const hints = hintsOf(steps, webhookUrl)
  if (json) {
    const variables = Object.fromEntries(steps.flatMap(({ variable }) => (variable === undefined ? [] : [variable])))
    return void process.stdout.write(`${JSON.stringify({ steps, variables, hints }, undefined, 2)}\n`)
  }
  for (const { what, id, isNew } of steps) process.stdout.write(`# ${isNew ? 'made ' : 'found'} ${what}  ${id}\n`)
  for (const { variable } of steps) if (variable !== undefined) process.stdout.write(`${variable.join('=')}\n`)
  for (const hint of hints) process.stdout.write(`# ${hint}\n`)
}

interface SetupOptions {
  readonly pro: number
  readonly team: number
  readonly overage?: string
  readonly url?: string
  readonly json?: boolean
}

function hintsOf(steps: readonly SetupStep[], webhookUrl: string | undefined): string[] {
  if (webhookUrl === undefined)
    return [
      'No webhook endpoint was created: give --url or set SVC_PUBLIC_URL. For tests: stripe listen (docs/billing.md).',
    ]
  const isSecretTold = steps.some(({ variable }) => variable?.[0] === 'STRIPE_WEBHOOK_SECRET')
  return isSecretTold
    ? []
    : ['The webhook endpoint exists already: Stripe’s dashboard shows its secret for STRIPE_WEBHOOK_SECRET.']
}

async function runReconcile({ json }: { json?: boolean }): Promise<void> {
  const { config } = loadConfig(process.env)
  await clientOf(config)
  const clock = { nowMs: () => Date.now() }
  const seen = await withStore((database) =>
    reported(() => reconcile(billingPartsOf({ config, database, clock, log: commandLog }))),
  )
  if (json) return void process.stdout.write(`${JSON.stringify(seen)}\n`)
  process.stdout.write(
    `Checked ${seen.subscriptions} subscriptions, ${seen.invoices} paid invoices and ${seen.recharges} payments.\n`,
  )
}

/** Creates the Stripe client. Throws `ConfigError` when there is no key. */
function clientOf(config: Config): Promise<Stripe> {
  const client = stripeClientOf(config)
  if (client === undefined) throw new ConfigError('`billing.secret_key`: set STRIPE_SECRET_KEY.')
  return client()
}

/** Rethrows Stripe's error for the operator, without the key that it may quote. */
async function reported<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!isStripeFault(error)) throw error
    const { type, code, requestId } = error
    const words = type === 'StripeAuthenticationError' ? 'it refuses the key' : error.message
    throw new Error(`Stripe: ${words} (${[type, code, requestId].filter(Boolean).join(', ')})`, { cause: error })
  }
}

const USD = /^\d{1,6}(?:\.\d{1,2})?$/
const FINE_USD = /^\d{1,4}(?:\.\d{1,10})?$/

/** Creates an option in dollars that is stored in cents; its help shows the default in dollars. */
function usdOption(flags: string, description: string, usd: string): Option {
  return new Option(flags, description).argParser(toCents).default(toCents(usd), usd)
}

function toCents(usd: string): number {
  if (!USD.test(usd)) throw new InvalidArgumentError('expected US dollars, e.g. 20 or 19.99')
  return Math.round(Number(usd) * 100)
}

/** Converts USD to cents as text, without rounding: moves the decimal point by two. */
function toSubCents(usd: string): string {
  if (!FINE_USD.test(usd)) throw new InvalidArgumentError('expected US dollars, e.g. 0.0001')
  const [whole = '0', fraction = ''] = usd.split('.')
  const digits = fraction.padEnd(2, '0')
  return `${Number(whole + digits.slice(0, 2))}${digits.length > 2 ? `.${digits.slice(2)}` : ''}`
}
