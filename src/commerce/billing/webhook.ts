import { GatewayError } from '../../core/errors.ts'
import { faultFields, isMissing, toGatewayError } from './errors.ts'
import { type BillingParts, idOf } from './parts.ts'
import { refreshCharge, refreshInvoice } from './payments.ts'
import { refreshRecharge } from './recharge-end.ts'
import { isName, openEvent, type SignedEvent } from './signature.ts'
import { refreshSubscription } from './subscriptions.ts'

/** Subject of an event: the object to fetch. */
type Subject =
  | { readonly kind: 'subscription' | 'invoice' | 'intent' | 'charge' | 'customer'; readonly id: string }
  | { readonly kind: 'meter' | 'nothing' }

const NOTHING: Subject = { kind: 'nothing' }

/** Subscribed events, v1; and the member of their object that names the subject. */
const SUBJECTS: Readonly<
  Record<string, { readonly kind: Exclude<Subject['kind'], 'meter' | 'nothing'>; readonly member: string }>
> = {
  'checkout.session.completed': { kind: 'subscription', member: 'subscription' },
  'checkout.session.async_payment_succeeded': { kind: 'subscription', member: 'subscription' },
  'checkout.session.async_payment_failed': { kind: 'subscription', member: 'subscription' },
  'customer.subscription.created': { kind: 'subscription', member: 'id' },
  'customer.subscription.updated': { kind: 'subscription', member: 'id' },
  'customer.subscription.deleted': { kind: 'subscription', member: 'id' },
  'customer.subscription.paused': { kind: 'subscription', member: 'id' },
  'customer.subscription.resumed': { kind: 'subscription', member: 'id' },
  'customer.deleted': { kind: 'customer', member: 'id' },
  'invoice.paid': { kind: 'invoice', member: 'id' },
  'payment_intent.amount_capturable_updated': { kind: 'intent', member: 'id' },
  'payment_intent.succeeded': { kind: 'intent', member: 'id' },
  'payment_intent.payment_failed': { kind: 'intent', member: 'id' },
  'payment_intent.canceled': { kind: 'intent', member: 'id' },
  'charge.refunded': { kind: 'charge', member: 'id' },
  'charge.dispute.created': { kind: 'charge', member: 'charge' },
  'charge.dispute.closed': { kind: 'charge', member: 'charge' },
}

/** The types of event that `turnpike stripe setup` subscribes to. */
export const EVENT_TYPES: readonly string[] = Object.keys(SUBJECTS)

const METER_TROUBLE = /^v1\.billing\.meter\./

/**
 * Handles one delivery of a webhook: verifies it, fetches its subject, and records that with the event in one
 * transaction. A repeated delivery is a no-op. Throws `invalid_request` for one that Stripe did not sign; any other
 * error makes Stripe deliver the event again.
 */
export async function takeWebhook(parts: BillingParts, delivery: { body: Buffer; signature: string }): Promise<void> {
  const event = await openEvent(parts, delivery)
  const { id: eventId, type } = event
  const subject = subjectOf(event)
  if (await parts.store.hasSeen(eventId)) return
  try {
    await handle(parts, subject, event)
    parts.log.info({ eventId, type }, 'billing.event')
  } catch (error) {
    parts.log.warn({ eventId, type, ...faultFields(error) }, 'billing.event-failed')
    // An object that no longer exists at Stripe can have no effect, however often it is fetched.
    if (isMissing(error)) return
    const words = 'The event could not be handled. Deliver it again.'
    throw new GatewayError('internal_error', words, { cause: toGatewayError(error) })
  }
}

async function handle(parts: BillingParts, subject: Subject, { id: eventId, type }: SignedEvent): Promise<void> {
  switch (subject.kind) {
    case 'subscription':
      return refreshSubscription(parts, subject.id, eventId)
    case 'invoice':
      return void (await refreshInvoice(parts, subject.id, eventId))
    case 'intent':
      return void (await refreshRecharge(parts, subject.id, eventId))
    case 'charge':
      return refreshCharge(parts, subject.id, eventId)
    case 'customer':
      return forgetDeleted(parts, subject.id, eventId)
    case 'meter':
      // Reported calls could not be billed: only the operator can fix that.
      return parts.log.error({ eventId, type }, 'meter.refused-by-provider')
    case 'nothing':
      return
    default:
      throw new Error(`no subject ${subject satisfies never}`)
  }
}

function subjectOf({ type, data }: SignedEvent): Subject {
  if (METER_TROUBLE.test(type)) return { kind: 'meter' }
  const known = Object.hasOwn(SUBJECTS, type) ? SUBJECTS[type] : undefined
  if (known === undefined) return NOTHING
  const reference = data?.object[known.member]
  // Safe: Stripe sends an id, an expanded object or nothing there; others have no `id` and are ignored.
  const id = idOf(reference as string | { id: string } | null | undefined)
  if (typeof id !== 'string') return NOTHING
  if (!isName(id)) throw new GatewayError('invalid_request', `Expected an id in the event’s \`${known.member}\`.`)
  return { kind: known.kind, id }
}

/** Deletes a customer only if Stripe confirms now that it is deleted. */
async function forgetDeleted(parts: BillingParts, customerId: string, eventId: string): Promise<void> {
  const stripe = await parts.stripe?.()
  const isGone = await stripe?.customers.retrieve(customerId).then(
    (customer) => customer.deleted === true,
    (error: unknown) => {
      if (isMissing(error)) return true
      throw error
    },
  )
  if (isGone === true) await parts.store.forgetCustomer(customerId, eventId)
}
