import { hash } from 'node:crypto'
import type { BillingParts } from './parts.ts'
import { stripeOf } from './parts.ts'

/** Longest account id used as is; the identity provider's ids may be long, and a meter event's identifier has at most 100 characters. */
const LONGEST_ID = 80

/** Returns an account's id as a part of idempotency keys and identifiers: itself, or its hash if it is long. */
export function shortId(accountId: string): string {
  return accountId.length <= LONGEST_ID ? accountId : `sha256-${hash('sha256', accountId, 'base64url')}`
}

/**
 * Returns the account's customer at Stripe, and creates it if needed. Concurrent requests get the same one: they create it
 * under the same idempotency key, with the same parameters.
 */
export async function ensureCustomer(parts: BillingParts, accountId: string): Promise<string> {
  const { customerId, generation } = await parts.store.customer(accountId)
  if (customerId !== null) return customerId
  const stripe = await stripeOf(parts)
  const made = await stripe.customers.create(
    { metadata: { user_id: accountId } },
    { idempotencyKey: `cus:${shortId(accountId)}:${generation}` },
  )
  return parts.store.putCustomer({ accountId, customerId: made.id })
}

/** Returns the account of a customer: the stored one, or, for an unknown customer, the one in its metadata. */
export async function accountOf(
  { store }: BillingParts,
  customerId: string | undefined,
  metadata: Readonly<Record<string, string>> | null | undefined,
): Promise<string | undefined> {
  const known = customerId === undefined ? undefined : await store.accountOf(customerId)
  return known ?? metadata?.user_id
}
