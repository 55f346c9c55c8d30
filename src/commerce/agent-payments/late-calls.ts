import { LRUCache } from 'lru-cache'
import { errorCodeOf, GatewayError } from '../../core/errors.ts'
import { FREE_LEFT_CALLS } from '../../core/ports/payments.ts'
import { entryLimit } from '../../core/system/entry-limit.ts'

/** Evicting a payment forgives its late calls. */
const MOST_PAYMENTS = 10_000
/** Codes of a provider's reply that timed out. */
const LATE_CODES: ReadonlySet<string | undefined> = new Set([
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'REPLY_TIMEOUT',
])

/**
 * Bounds the non-streaming calls that outlive the provider's time-out: the provider bills for them, and the payer is
 * not charged. Counted by challenge or session, in this process.
 */
export class LateCalls {
  readonly #counts = new LRUCache<string, number>(entryLimit(MOST_PAYMENTS))

  /** Throws `invalid_request` for a payment with too many late calls. Streams begin in time. */
  assertInTime(paymentId: string, { stream }: { stream: boolean }): void {
    if (stream || (this.#counts.get(paymentId) ?? 0) < FREE_LEFT_CALLS) return
    throw new GatewayError(
      'invalid_request',
      `${FREE_LEFT_CALLS} calls of this payment took longer than the gateway waits for a reply that is no stream. Nothing was charged for them. Send it with \`stream: true\`; a challenge is bound to its body, so that needs another one.`,
    )
  }

  /** Counts a failed call if its error is a time-out of the provider. */
  note(paymentId: string, error: unknown): void {
    if (!(error instanceof Error) || !LATE_CODES.has(errorCodeOf(error.cause))) return
    this.#counts.set(paymentId, (this.#counts.get(paymentId) ?? 0) + 1)
  }
}
