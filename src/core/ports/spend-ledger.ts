/** A cap: what a scope may spend in a day or month of UTC. */
export interface SpendWindow {
  /** Whose money: a key, a user, the whole instance. */
  readonly scope: string
  /** `d:2026-11-21` or `m:2026-11`. */
  readonly window: string
  readonly limitNanoUsd: number
}

/** Money to be held for one request. */
export interface SpendHold {
  /** The idempotency key: the same hold again renews its lease and holds nothing twice. */
  readonly holdId: string
  readonly amountNanoUsd: number
  /** Must be left besides, in each window, and is not held. Default: nothing. */
  readonly spareNanoUsd?: number
  /** No window twice. */
  readonly windows: readonly SpendWindow[]
  /** How long it is held unless it is renewed; then it counts as spent. */
  readonly leaseMs: number
}

/** Whether money is held, and the sums of its windows with it; if not, by which window, and what is spent and held there. */
export type Reservation =
  | { readonly ok: true; readonly standing: readonly WindowStanding[] }
  | { readonly ok: false; readonly refusedBy: SpendWindow; readonly spentNanoUsd: number }

/** The sums of a window. */
export interface SpendSums {
  readonly settledNanoUsd: number
  readonly heldNanoUsd: number
}

/** A window and its sums. */
export interface WindowStanding extends SpendWindow, SpendSums {}

/**
 * Keeps spend within caps, exactly, for all instances together: money is held before it is spent. A hold belongs to the
 * windows of its admission, also when it ends after midnight. Amounts are whole nano-dollars. Every method rejects with
 * `service_unavailable` while the database does not answer; what was asked has then happened wholly or not at all, and
 * may be asked again.
 */
export interface SpendLedger {
  /**
   * Holds an amount in all windows at once, or in none: admitted when settled + held + amount + spare ≤ limit in each.
   * Holds the call that the request owes its plan, too, or neither; that throws `plan_calls_used`, `payment_required`.
   */
  reserve(hold: SpendHold): Promise<Reservation>
  /**
   * Raises a hold to `toNanoUsd` in all its windows, or not at all, and renews its lease; a lower amount only renews.
   * Throws `internal_error` when the hold was settled or is unknown.
   */
  grow(change: { holdId: string; toNanoUsd: number; leaseMs: number }): Promise<Reservation>
  /**
   * Ends a hold: what it really cost is spent in its windows, also beyond what was held; the rest is free again. Twice is
   * harmless: the first counts. After the lease has ended it replaces the full amount that was counted by the truth.
   * While the database does not answer, it is told later. Throws `internal_error` when the hold is unknown.
   */
  settle(end: { holdId: string; costNanoUsd: number }): Promise<void>
  /** What is spent and held now, window by window. */
  spent(windows: readonly Pick<SpendWindow, 'scope' | 'window'>[]): Promise<SpendSums[]>
}
