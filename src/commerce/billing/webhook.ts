import { GatewayError } from '../../core/errors.ts'
import { faultFields, isMissing, toGatewayError } from './errors.ts'
import { type BillingParts, idOf } from './parts.ts'
import { refreshCharge, refreshInvoice } from './payments.ts'
import { refreshRecharge } from './recharge-end.ts'
import { isName, openEvent, type SignedEvent } from './signature.ts'
import { refreshSubscription } from './subscriptions.ts'

/** What an event is about: the object to fetch. */
type Subject =
  | { readonly kind: 'subscription' | 'invoice' | 'intent' | 'charge' | 'customer'; readonly id: string }
  | { readonly kind: 'meter' | 'nothing' }

const NOTHING: Subject = { kind: 'nothing' }

/** Events that are subscribed to, v1; and the member of their object that names what to fetch. */
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
 * Handles one delivery of a webhook: checks it, fetches what it is about, and writes that down with the event in one
 * transaction. A repeated one changes nothing. Throws `invalid_request` for one that Stripe did not sign; anything else
 * that it throws makes Stripe deliver the event again.
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
    // What Stripe no longer has can have no effect, however often it is asked for.
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
      // Calls were reported that cannot be billed: only the operator can mend that.
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
  // Safe: an id, an expanded object or nothing is all that Stripe sends there; others have no `id` and are left alone.
  const id = idOf(reference as string | { id: string } | null | undefined)
  if (typeof id !== 'string') return NOTHING
  if (!isName(id)) throw new GatewayError('invalid_request', `Expected an id in the event’s \`${known.member}\`.`)
  return { kind: known.kind, id }
}

/** A customer is forgotten only if Stripe says now that it is gone. */
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
