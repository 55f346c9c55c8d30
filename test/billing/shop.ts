import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { ExecutionContext } from 'ava'
import { sendAs, startCloudGateway, startCloudProcess } from '../support/accounts.ts'
import { eventually } from '../support/eventually.ts'
import type { Environment, Gateway, Start } from '../support/gateway.ts'
import type { GatewayProcess } from '../support/gateway-process.ts'
import type { Reply } from '../support/http-client.ts'
import { type JsonObject, valueAt } from '../support/json.ts'
import { type StripeStandIn, startStripe } from '../support/stripe/stand-in.ts'
import type { Purchase } from '../support/stripe/world.ts'

/** Plans and prices of a configured gateway. */
const PRICES = { pro: 2000, team: 10_000 } as const

/** A gateway that sells plans, with its stand-in for Stripe. */
export interface Shop<Started extends Gateway = Gateway> {
  readonly stripe: StripeStandIn
  readonly gateways: readonly Started[]
  /** Starts another gateway of the shop in the test's thread; it ends with the shop. */
  another(env?: Environment): Promise<Gateway>
  readonly url: string
  /** Ids of the prices. */
  readonly prices: Readonly<Record<'pro' | 'team' | 'overage', string>>
  balance(userId: string): Promise<JsonObject>
  /** The person buys a plan: checkout, Stripe's page, webhooks. */
  buy(
    userId: string,
    tier?: 'pro' | 'team',
    purchase?: Purchase,
  ): Promise<{ customer: string; subscription: string; charge: string }>
  /** Resolves once the balance is so. */
  until(userId: string, isSo: (balance: JsonObject) => boolean, what: string): Promise<void>
  /** Delivers all events raised since the last time, and asserts that each was taken. */
  deliver(t: ExecutionContext): Promise<void>
}

/** Options of a shop. */
export interface ShopOptions {
  readonly env?: Environment
  /** The section `billing` of the configuration file. */
  readonly config?: JsonObject
  readonly databaseUrl?: string | undefined
  readonly key?: string
  readonly secret?: string
}

/** Creates a shop's products at the stand-in. */
export function stock({ world }: StripeStandIn): Record<'pro' | 'team' | 'overage', string> {
  const price = (name: string, cents: number, usage_type = 'licensed') => {
    const product = world.objects.add({ id: world.objects.nextId('prod'), object: 'product', name, metadata: {} })
    const id = world.objects.nextId('price')
    const amounts = { currency: 'usd', unit_amount: cents, unit_amount_decimal: String(cents) }
    const members = { product: product.id, ...amounts, recurring: { interval: 'month', usage_type }, metadata: {} }
    return world.objects.add({ id, object: 'price', ...members }).id
  }
  return { pro: price('pro', PRICES.pro), team: price('team', PRICES.team), overage: price('overage', 0, 'metered') }
}

/** Opens a shop; it closes with the test. */
export function openShop(t: ShopOwner, options: ShopOptions = {}): Promise<Shop> {
  return openShopWith(startCloudGateway, t, options)
}

/** Opens a shop with several gateways on one database. */
export function openShopOf(
  gateways: number,
  t: ShopOwner,
  options: ShopOptions & { readonly databaseUrl: string },
): Promise<Shop> {
  return openShopWith(startCloudGateway, t, { ...options, gateways })
}

/** Opens a shop whose gateway is a process, which a test can kill. */
export function openShopProcess(
  t: ShopOwner,
  options: ShopOptions & { readonly databaseUrl: string },
): Promise<Shop<GatewayProcess>> {
  return openShopWith((env) => startCloudProcess(env), t, options)
}

type ShopOwner = Pick<ExecutionContext, 'teardown'>

async function openShopWith<Started extends Gateway>(
  start: Start<Started>,
  t: ShopOwner,
  {
    env = {},
    config = {},
    databaseUrl,
    gateways: count = 1,
    key,
    secret,
  }: ShopOptions & { readonly gateways?: number },
): Promise<Shop<Started>> {
  const stripe = await startStripe({ ...(key !== undefined && { key }), ...(secret !== undefined && { secret }) })
  t.teardown(stripe.close)
  const prices = stock(stripe)
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-shop-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const file = path.join(folder, 'turnpike.yaml')
  writeFileSync(file, JSON.stringify({ billing: config })) // JSON is YAML
  const common = {
    SVC_CONFIG: file,
    STRIPE_SECRET_KEY: stripe.key,
    STRIPE_WEBHOOK_SECRET: stripe.secret,
    STRIPE_API_BASE: stripe.url,
    STRIPE_PRICE_PRO: prices.pro,
    STRIPE_PRICE_TEAM: prices.team,
    SVC_DASHBOARD_URL: 'https://app.example.com/dashboard',
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    ...env,
  }
  const ending = async <Opened extends Gateway>(starting: Promise<Opened>): Promise<Opened> => {
    const gateway = await starting
    t.teardown(async () => void (await gateway.stop()))
    return gateway
  }
  const gateways = await Promise.all(Array.from({ length: count }, () => ending(start(common))))
  const url = gateways[0]?.url ?? ''
  let delivered = 0
  const deliver: Shop['deliver'] = async (t) => {
    for (const event of stripe.world.events.slice(delivered)) {
      const reply = await stripe.deliver(event, url)
      t.is(reply.status, 200, `${event.type}: ${reply.text}`)
    }
    delivered = stripe.world.events.length
  }
  const balance = async (userId: string) => {
    const reply = await sendAs(userId, url, { method: 'GET', path: '/v1/billing/balance' })
    return reply.json as JsonObject // safe: the tests that use it look at its members
  }
  return {
    stripe,
    gateways,
    another: (more = {}) => ending(startCloudGateway({ ...common, ...more })),
    url,
    prices,
    balance,
    deliver,
    async buy(userId, tier = 'pro', purchase = {}) {
      const reply = await post(url, 'checkout', userId, { tier })
      const sessionId = String(valueAt(reply.json, 'sessionId'))
      const { customer } = stripe.world.objects.get('checkout.session', sessionId)
      return { customer: String(customer), ...stripe.world.completeCheckout(sessionId, purchase) }
    },
    until: (userId, isSo, what) => eventually(async () => isSo(await balance(userId)), what),
  }
}

/** Sends a request of a user to a route of billing. */
export async function post(url: string, route: string, userId: string, body: JsonObject): Promise<Reply> {
  return sendAs(userId, url, { path: `/v1/billing/${route}`, body })
}

/** Sets how an account recharges. */
export async function patchRecharge(url: string, userId: string, body: JsonObject): Promise<Reply> {
  return sendAs(userId, url, { method: 'PATCH', path: '/v1/billing/auto-recharge', body })
}
