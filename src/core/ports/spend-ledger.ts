/** A cap: spending limit of a scope in a day or month of UTC, or of a conversation. */
export interface SpendWindow {
  /** Owner of the money: a key, a user, the whole instance. */
  readonly scope: string
  /** `d:2026-11-21` or `m:2026-11`; of budgets `c:<conversation>` and others (`core/money/budget-windows.ts`). */
  readonly window: string
  /** In nano-USD; budgets of turns and tokens have those as their amounts. */
  readonly limitNanoUsd: number
  /** True for a budget: a window without a calendar, whose limit can be raised, and which ends 30 days after its last use. */
  readonly isBudget?: true
}

/** Money to hold for one request. */
export interface SpendHold {
  /** The idempotency key: the same hold again renews its lease and holds nothing twice. */
  readonly holdId: string
  readonly amountNanoUsd: number
  /** Amount that must remain in each window without being held. Default: none. */
  readonly spareNanoUsd?: number
  /** No window twice. */
  readonly windows: readonly SpendWindow[]
  /** Duration of the hold unless it is renewed; after it the hold counts as spent. */
  readonly leaseMs: number
}

/** The sums of the windows with the hold; for a refusal, the window that refused, with its spent and held sums. */
export type Reservation =
  | { readonly ok: true; readonly standing: readonly WindowStanding[] }
  | {
      readonly ok: false
      readonly refusedBy: SpendWindow
      readonly spentNanoUsd: number
      /** Amount by which a budget's limit has been raised. */
      readonly raisedNanoUsd?: number
      /** Limit of the budget's last request before this one; unset for the first. */
      readonly recordedNanoUsd?: number
    }

/** The sums of a window. */
export interface SpendSums {
  readonly settledNanoUsd: number
  readonly heldNanoUsd: number
  /** Amount by which the limit of a budget has been raised; unset for other windows, and for unused ones. */
  readonly raisedNanoUsd?: number
  /** Moment of the first use of a budget; likewise. */
  readonly begunAtMs?: number
}

/** A window and its sums; `roomIn` returns what is left of its limit. */
export interface WindowStanding extends SpendWindow, SpendSums {}

/**
 * Keeps spend within caps, exactly, for all instances together: money is held before it is spent. A hold belongs to the
 * windows of its admission, also when it ends after midnight. Amounts are whole nano-USD. A budget admits what its limit and
 * the raise of that limit allow together. Every method rejects with
 * `service_unavailable` while the database does not answer; the command has then taken effect wholly or not at all, and
 * may be repeated.
 */
export interface SpendLedger {
  /**
   * Holds an amount in all windows at once, or in none: admitted when settled + held + amount + spare ≤ limit in each.
   * Holds the call of the request's plan, too, or neither; that throws `plan_calls_used`, `payment_required`.
   */
  reserve(hold: SpendHold): Promise<Reservation>
  /**
   * Raises a hold to `toNanoUsd` in all its windows, or not at all, and renews its lease; a lower amount only renews.
   * Throws `internal_error` when the hold was settled or is unknown.
   */
  grow(change: { holdId: string; toNanoUsd: number; leaseMs: number }): Promise<Reservation>
  /**
   * Settles a hold: the real cost is spent in its windows, also beyond the held amount; the rest is free again. Idempotent:
   * the first settlement counts. After the lease's end it replaces the full amount that was counted by the real cost.
   * While the database does not answer, it is sent later. Throws `internal_error` when the hold is unknown.
   */
  settle(end: { holdId: string; costNanoUsd: number }): Promise<void>
  /** Returns the amounts spent and held now, window by window. */
  spent(windows: readonly Pick<SpendWindow, 'scope' | 'window'>[]): Promise<SpendSums[]>
}
