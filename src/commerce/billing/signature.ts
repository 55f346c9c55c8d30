import type Stripe from 'stripe'
import { GatewayError } from '../../core/errors.ts'
import { tryParseJson } from '../../core/json/json-value.ts'
import { notConfigured } from './errors.ts'
import { type BillingParts, stripeOf } from './parts.ts'

/** An event signed by Stripe. Its copy of the object may be stale; see `stores/sql/billing/fetches.ts`. */
export interface SignedEvent {
  readonly id: string
  readonly type: string
  /** `event`; `v2.core.event` for events that only name their object. */
  readonly object: string
  readonly data?: { readonly object: Readonly<Record<string, unknown>> }
}

const TOLERANCE_S = 300
const MS_PER_S = 1000
/** Pattern of Stripe's ids and types: printable, without spaces. */
const NAME = /^[\x21-\x7e]{1,255}$/

/**
 * Checks that Stripe has signed these bytes with one of the configured secrets within five minutes, and parses them.
 * Throws `invalid_request`, or `not_configured` when there is no secret.
 */
export async function openEvent(
  parts: BillingParts,
  { body, signature }: { body: Buffer; signature: string },
): Promise<SignedEvent> {
  const { webhookSecrets } = parts.settings
  if (webhookSecrets.length === 0)
    throw notConfigured(
      'This gateway takes no webhooks: its operator has set no STRIPE_WEBHOOK_SECRET.',
      'billing_not_configured:webhook',
    )
  const { webhooks } = await stripeOf(parts)
  const isSigned = webhookSecrets.some((secret) => isSignedWith(webhooks, { body, signature, secret }))
  if (!isSigned || isOfTheFuture(signature, parts.clock.nowMs()))
    throw new GatewayError(
      'invalid_request',
      'The signature of the webhook is missing, wrong, or more than five minutes from now.',
    )
  return parseEvent(body)
}

function isSignedWith(
  webhooks: Stripe['webhooks'],
  { body, signature, secret }: { body: Buffer; signature: string; secret: string },
): boolean {
  try {
    // Never `constructEvent` alone: it refuses the events of v2. 0 as tolerance would mean none.
    return webhooks.signature?.verifyHeader(body, signature, secret, TOLERANCE_S) === true
  } catch {
    return false
  }
}

/** Returns true for a signature of the future, which Stripe's package accepts: it could be replayed until then. */
function isOfTheFuture(signature: string, nowMs: number): boolean {
  const times = signature.split(',').filter((item) => item.startsWith('t='))
  return times.some((item) => Number.parseInt(item.slice('t='.length), 10) > nowMs / MS_PER_S + TOLERANCE_S)
}

function parseEvent(body: Buffer): SignedEvent {
  // Safe: Stripe has signed it, and the used members are checked. Null and texts have none of them.
  const event = { ...(tryParseJson(body) as Partial<SignedEvent> | null) }
  const { id, type, object } = event
  if (!isName(id) || !isName(type) || !isName(object))
    throw new GatewayError('invalid_request', 'Expected an event with `id`, `type` and `object`.')
  return { ...event, id, type, object }
}

/** Returns true for a possible id or type of Stripe. */
export function isName(value: unknown): value is string {
  return typeof value === 'string' && NAME.test(value)
}
