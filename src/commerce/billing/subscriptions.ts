import type Stripe from 'stripe'
import type { FetchedSubscription, PaidTier } from '../../core/ports/billing.ts'
import { accountOf } from './customers.ts'
import { type BillingParts, type BillingSettings, idOf, stripeOf } from './parts.ts'

const SECOND_MS = 1000

/** Fetches a subscription and records it. */
export async function refreshSubscription(parts: BillingParts, id: string, eventId?: string): Promise<void> {
  const ticket = await parts.store.takeTicket()
  const stripe = await stripeOf(parts)
  const subscription = await toFetched(parts, await stripe.subscriptions.retrieve(id))
  if (subscription !== undefined) await parts.store.applySubscription(subscription, { ticket, eventId })
}

/** Fetches all subscriptions of a customer and records them. */
export async function refreshSubscriptionsOf(parts: BillingParts, customer: string): Promise<void> {
  const ticket = await parts.store.takeTicket()
  const stripe = await stripeOf(parts)
  const { data } = await stripe.subscriptions.list({ customer, status: 'all', limit: 100 })
  await applyAll(parts, data, ticket)
}

/** Records fetched subscriptions. `ticket`: taken before they were fetched. */
export async function applyAll(
  parts: BillingParts,
  subscriptions: readonly Stripe.Subscription[],
  ticket: number,
): Promise<void> {
  for (const each of subscriptions) {
    const subscription = await toFetched(parts, each)
    if (subscription !== undefined) await parts.store.applySubscription(subscription, { ticket })
  }
}

/** Returns the relevant members of a subscription; `undefined` for one that is no plan. */
async function toFetched(
  parts: BillingParts,
  { id, customer, metadata, status, items }: Stripe.Subscription,
): Promise<FetchedSubscription | undefined> {
  const accountId = await accountOf(parts, idOf(customer), metadata)
  const item = items.data.find(({ price }) => tierOfPrice(parts.settings, price) !== undefined) ?? items.data[0]
  const tier = (item && tierOfPrice(parts.settings, item.price)) ?? toTier(metadata.tier)
  if (accountId === undefined || tier === undefined || item === undefined) return undefined
  // Since API version 2025-03-31 the period is the item's.
  const [periodStartMs, periodEndMs] = [item.current_period_start, item.current_period_end].map(
    (seconds) => seconds * SECOND_MS,
  ) as [number, number] // safe: two in, two out
  return { id, accountId, status, tier, periodStartMs, periodEndMs }
}

/** Returns the plan of a price: as configured, or as marked by `turnpike stripe setup`. */
export function tierOfPrice({ prices }: BillingSettings, { id, metadata }: Stripe.Price): PaidTier | undefined {
  if (id === prices.team) return 'team'
  return id === prices.pro ? 'pro' : toTier(metadata?.turnpike_tier)
}

/** Parses a plan's name. */
export function toTier(text: string | undefined): PaidTier | undefined {
  return text === 'pro' || text === 'team' ? text : undefined
}
