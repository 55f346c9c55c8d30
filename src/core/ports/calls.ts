import type { Plans, Tier } from '../money/plans.ts'

/** Calls to hold for an account. Plain data. */
export interface CallOrder {
  /** The idempotency key: a repeated order renews the lease and holds nothing twice. */
  readonly holdId: string
  readonly accountId: string
  /** All of them at one price, or none. */
  readonly calls: number
  readonly plans: Plans
  /** Duration of the hold; after it the calls are free again. */
  readonly leaseMs: number
}

/** Reason why calls are not held. */
export type CallRefusal =
  | {
      readonly reason: 'calls'
      readonly tier: Tier
      readonly includedCalls: number
      /** Moment from which there are calls again, in milliseconds since 1970. */
      readonly resetsAtMs: number | undefined
    }
  | { readonly reason: 'credits'; readonly tier: Tier; readonly neededCredits: number; readonly freeCredits: number }

/** Held calls, and the price of each; or the reason of a refusal. */
export type CallReservation =
  | { readonly ok: true; readonly callCredits: number }
  | { readonly ok: false; readonly refused: CallRefusal }

/** The end of a hold: how many of its calls were answered; 0: none, and nothing is charged. */
export interface CallEnd {
  readonly holdId: string
  /** Account of the hold; only the order of locks depends on it. */
  readonly accountId: string
  readonly usedCalls: number
}

/** State in which an end found its hold. `late`: its lease had ended. */
export type CallEndOutcome = 'posted' | 'voided' | 'late' | 'repeated' | 'unknown'

/**
 * Keeps calls within plans, exactly, for all instances together. Every method rejects with `service_unavailable` while the
 * database does not answer; the command has then taken effect wholly or not at all, and may be repeated.
 */
export interface CallLedger {
  take(order: CallOrder): Promise<CallReservation>
  /** Ends holds; the first end of each counts. After its lease it is charged as far as credits last; the rest is recorded. */
  end(ends: readonly CallEnd[]): Promise<readonly CallEndOutcome[]>
}
