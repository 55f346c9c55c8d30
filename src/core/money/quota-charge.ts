import type { CallOrder, CallReservation } from '../ports/calls.ts'

/**
 * What a request owes for its answer: one call of its account's plan. It is held before anybody is asked, counted when
 * the answer begins, and waived when there is none. Each step is taken once, however often it is called.
 */
export interface Fee {
  /** What a ledger holds together with money; `undefined` once it is held. Who asks for it must `accept` what comes of it. */
  order(): CallOrder | undefined
  /** Takes in what became of the order. Throws `plan_calls_used`, `payment_required`. */
  accept(result: CallReservation): void
  /** Holds it, unless it is held. Throws as `accept` does, and `service_unavailable`. */
  hold(): Promise<void>
  /** Somebody works on the answer from now on. */
  markAsked(): void
  /** The answer begins. */
  count(): void
  /** The client has left before that: a call where somebody worked on it, or leaving would be a way around a plan. */
  leave(): Promise<void>
  /**
   * There is no answer. Resolves when what was held is free again, so that the client’s next try finds it so; or when that
   * cannot be told now, and is told later.
   */
  waive(): Promise<void>
}
