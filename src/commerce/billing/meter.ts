import type { MeterReport } from '../../core/ports/billing.ts'
import { shortId } from './customers.ts'
import { faultFields, isStripeFault } from './errors.ts'
import { type BillingParts, stripeOf } from './parts.ts'

/**
 * DESIGN — metered overage
 *
 * The ledger counts calls beyond a plan by the hour in which they were answered. An hour that has ended becomes a report,
 * whose identifier makes it idempotent at Stripe for a day. A report whose first try is older is
 * compared with the meter's total before it is sent again.
 */

/** Name of the meter's events, and key of their count. */
export const METER_EVENT = 'turnpike_overage_calls'

const HOUR_MS = 60 * 60 * 1000
const HOUR_S = 3600
/** Stripe keeps identifiers for at least 24 hours. */
const IDENTIFIER_LASTS_MS = 23 * HOUR_MS
/** Stripe accepts events of the last 35 days. */
const OLDEST_MS = (35 * 24 - 1) * HOUR_MS

/** Reports the ended hours that are not reported yet. */
export async function reportMeter(parts: BillingParts): Promise<void> {
  const { store, log } = parts
  await store.collectMeterReports()
  // One after another: Stripe accepts one at a time per customer.
  for (const report of await store.takeMeterReports()) {
    try {
      await store.endMeterReport(report.id, await send(parts, report))
    } catch (error) {
      log.warn({ report: report.id, ...faultFields(error) }, 'meter.failed')
    }
  }
}

async function send(parts: BillingParts, report: MeterReport): Promise<'sent' | 'lost'> {
  const { accountId, hourMs, part, calls, callsSoFar, triedAtMs } = report
  const nowMs = parts.clock.nowMs()
  const { customerId } = await parts.store.customer(accountId)
  if (customerId === null || nowMs - hourMs > OLDEST_MS) {
    parts.log.error({ report: report.id, calls, customerId }, 'meter.lost')
    return 'lost'
  }
  const isForgotten = triedAtMs !== null && nowMs - triedAtMs > IDENTIFIER_LASTS_MS
  if (isForgotten && (await countedIn(parts, { customerId, hourMs })) >= callsSoFar) return 'sent'
  const stripe = await stripeOf(parts)
  const identifier = `ov:${shortId(accountId)}:${hourMs / HOUR_MS}${part === 1 ? '' : `:${part}`}`
  const payload = { stripe_customer_id: customerId, value: String(calls) }
  try {
    await stripe.billing.meterEvents.create({ event_name: METER_EVENT, payload, identifier, timestamp: hourMs / 1000 })
  } catch (error) {
    if (!isKnownIdentifier(error, identifier)) throw error
  }
  return 'sent'
}

/** Returns true when Stripe has counted the event already. Its reference documents no code for this, only the message. */
function isKnownIdentifier(error: unknown, identifier: string): boolean {
  return isStripeFault(error) && error.statusCode === 400 && error.message.includes(`identifier ${identifier}`)
}

/** Returns the meter's total of a customer in an hour. */
async function countedIn(
  parts: BillingParts,
  { customerId, hourMs }: { customerId: string; hourMs: number },
): Promise<number> {
  const stripe = await stripeOf(parts)
  const { data: meters } = await stripe.billing.meters.list({ status: 'active', limit: 100 })
  const meter = meters.find(({ event_name }) => event_name === METER_EVENT)
  if (meter === undefined) return 0
  const { data } = await stripe.billing.meters.listEventSummaries(meter.id, {
    customer: customerId,
    start_time: hourMs / 1000,
    end_time: hourMs / 1000 + HOUR_S,
  })
  return data.reduce((sum, { aggregated_value }) => sum + aggregated_value, 0)
}
