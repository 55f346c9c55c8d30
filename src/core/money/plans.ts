/** Tier of an account. */
export type Tier = 'free' | 'pro' | 'team'

/** Quota of a tier, and the price of calls beyond it. Plain data: the database decides by it. */
export interface Plan {
  /** Calls in a period that cost no credits. */
  readonly includedCalls: number
  /** Price of each further call; `undefined`: further calls are refused. */
  readonly creditsPerCall: number | undefined
}

/** The plan of each tier. */
export type Plans = Readonly<Record<Tier, Plan>>

/**
 * Returns the credits for the next call of a period in which so many are used or running; 0: within the quota,
 * `undefined`: it is refused. Must be pure and never fall with `usedCalls`; the one place to change how calls are priced.
 */
export function feeOf({ includedCalls, creditsPerCall }: Plan, usedCalls: number): number | undefined {
  return usedCalls < includedCalls ? 0 : creditsPerCall
}

/** A period in which calls are counted. */
export interface PlanPeriod {
  /** `m:2026-11`, a UTC month; `p:1763683200000`, a paid period by its start. */
  readonly windowId: string
  /** Start of the next period, in milliseconds since 1970; `undefined`: the payment provider decides. */
  readonly endsAtMs: number | undefined
}

/** A tier, and its paid period as far as it is known. */
export interface PlanHolder {
  readonly tier: Tier
  readonly periodStartMs: number | null
  readonly periodEndMs: number | null
}

/**
 * Returns the period of an account at a moment. Free accounts, and those whose paid period is not known, have UTC months.
 * A paid period that has ended is followed by one that begins at its end, as the payment provider will report the renewal.
 */
export function periodOf({ tier, periodStartMs, periodEndMs }: PlanHolder, atMs: number): PlanPeriod {
  if (tier === 'free' || periodStartMs === null) return monthOf(atMs)
  if (periodEndMs === null || atMs < periodEndMs)
    return { windowId: `p:${periodStartMs}`, endsAtMs: periodEndMs ?? undefined }
  return { windowId: `p:${periodEndMs}`, endsAtMs: undefined }
}

function monthOf(atMs: number): PlanPeriod {
  const at = new Date(atMs)
  const next = Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1)
  return { windowId: `m:${at.toISOString().slice(0, 7)}`, endsAtMs: next }
}
