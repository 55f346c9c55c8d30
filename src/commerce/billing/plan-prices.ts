import type Stripe from 'stripe'
import type { PaidTier } from '../../core/ports/billing.ts'
import type { BillingSettings } from './parts.ts'
import { tierOfPrice } from './subscriptions.ts'

const DECIMALS = 12

/** A plan's price: the tier that it buys and the list price of one period. */
export interface PlanPrice {
  readonly tier: PaidTier
  /** In 10^-12 of the currency's smallest unit, Stripe's precision; 0 where a price has no single amount. */
  readonly unitPicos: bigint
}

/** Fetches prices by their ids, each once. */
export class PriceReader {
  readonly #stripe: Stripe
  readonly #prices = new Map<string, Promise<Stripe.Price>>()

  constructor(stripe: Stripe) {
    this.#stripe = stripe
  }

  read(id: string): Promise<Stripe.Price> {
    const known = this.#prices.get(id)
    if (known !== undefined) return known
    const fetched = this.#stripe.prices.retrieve(id, { expand: ['currency_options'] })
    this.#prices.set(id, fetched)
    return fetched
  }
}

/**
 * Returns the plan of a fetched price, with its list price in `currency`; `undefined` for another product. A price that
 * is neither configured nor marked by `turnpike stripe setup` counts as `otherwise`, unless it is metered.
 */
export function planPriceOf(
  settings: BillingSettings,
  price: Stripe.Price,
  { currency, otherwise }: { currency: string; otherwise: PaidTier | undefined },
): PlanPrice | undefined {
  const tier = tierOfPrice(settings, price) ?? (price.recurring?.usage_type === 'metered' ? undefined : otherwise)
  if (tier === undefined) return undefined
  const option = price.currency === currency ? price : price.currency_options?.[currency]
  return { tier, unitPicos: picosOf(option?.unit_amount_decimal) }
}

/** Converts a decimal exactly: `12.5` is 12.5 × 10^12. */
function picosOf(decimal: { toString(): string } | null | undefined): bigint {
  const [whole = '0', fraction = ''] = String(decimal ?? '0').split('.')
  return BigInt(whole + fraction.slice(0, DECIMALS).padEnd(DECIMALS, '0'))
}

/** Returns the credits for `cents` at a list price, rounded down: a negative amount never removes less than it refunds. */
export function creditsFor(cents: number, credits: number, { unitPicos }: PlanPrice): number {
  if (unitPicos <= 0n) return 0
  const product = BigInt(cents) * BigInt(credits) * 10n ** BigInt(DECIMALS)
  const quotient = product / unitPicos
  return Number(product < 0n && product % unitPicos !== 0n ? quotient - 1n : quotient)
}
