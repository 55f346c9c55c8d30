import type { CallOrder, CallReservation } from '../ports/calls.ts'

/**
 * The reservation of one call of an account's plan, from the opening of a request to its end. It is held before a provider
 * is called or a cache answers: with the request's money in one transaction, or alone.
 */
export interface QuotaCharge {
  /** Returns the order that a ledger holds with the money; `undefined` once it is held. `accept` takes the result. */
  order(): CallOrder | undefined
  /** Takes the result of the order. Throws `plan_calls_used`, `payment_required`. */
  accept(result: CallReservation): void
  /** Holds the call, unless it is held. Throws as `accept` does, and `service_unavailable`. */
  hold(): Promise<void>
}

/** Finds the quota charge of a running request, by the request's id, which is the id of its hold as well. */
export type ChargeOf = (requestId: string) => QuotaCharge | undefined
