import type { Plans, Tier } from '../money/plans.ts'

/** Calls that are to be held for an account. Plain data. */
export interface CallOrder {
  /** The idempotency key: the same again renews the lease and holds nothing twice. */
  readonly holdId: string
  readonly accountId: string
  /** All of them at one price, or none. */
  readonly calls: number
  readonly plans: Plans
  /** How long they are held; then they are free again. */
  readonly leaseMs: number
}

/** Why calls are not held. */
export type CallRefusal =
  | {
      readonly reason: 'calls'
      readonly tier: Tier
      readonly includedCalls: number
      /** When there are calls again, in milliseconds since 1970. */
      readonly resetsAtMs: number | undefined
    }
  | { readonly reason: 'credits'; readonly tier: Tier; readonly neededCredits: number; readonly freeCredits: number }

/** Calls that are held, and what each of them costs; or why they are not. */
export type CallReservation =
  | { readonly ok: true; readonly callCredits: number }
  | { readonly ok: false; readonly refused: CallRefusal }

/** The end of a hold: how many of its calls were answered; 0: none, and nothing is owed. */
export interface CallEnd {
  readonly holdId: string
  /** Whose hold it is; only the order of locks goes by it. */
  readonly accountId: string
  readonly usedCalls: number
}

/** How an end found its hold. `late`: its lease had ended. */
export type CallEndOutcome = 'posted' | 'voided' | 'late' | 'repeated' | 'unknown'

/**
 * Keeps calls within plans, exactly, for all instances together. Every method rejects with `service_unavailable` while the
 * database does not answer; what was asked has then happened wholly or not at all, and may be asked again.
 */
export interface CallLedger {
  take(order: CallOrder): Promise<CallReservation>
  /** The first end of a hold counts. After its lease it is charged as far as there are credits; the rest is written down. */
  end(ends: readonly CallEnd[]): Promise<readonly CallEndOutcome[]>
}
