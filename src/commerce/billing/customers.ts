import { hash } from 'node:crypto'
import type { BillingParts } from './parts.ts'
import { stripeOf } from './parts.ts'

/** Ids of accounts are the identity provider's and may be long; a meter event's identifier may have 100 characters. */
const LONGEST_ID = 80

/** An account's id as a part of idempotency keys and identifiers: itself, or its hash where it is long. */
export function shortId(accountId: string): string {
  return accountId.length <= LONGEST_ID ? accountId : `sha256-${hash('sha256', accountId, 'base64url')}`
}

/**
 * The account's customer at Stripe, made when there is none. Of two requests at once both get the same: they make it
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

/** Whose customer it is: the one it was made for, or, of one that is not known here, the one its metadata name. */
export async function accountOf(
  { store }: BillingParts,
  customerId: string | undefined,
  metadata: Readonly<Record<string, string>> | null | undefined,
): Promise<string | undefined> {
  const known = customerId === undefined ? undefined : await store.accountOf(customerId)
  return known ?? metadata?.user_id
}
