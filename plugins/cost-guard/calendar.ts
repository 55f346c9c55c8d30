import type { Cap } from 'turnpike/plugin/spend'

/** UTC day or month: its name in the ledger, and its end in ISO 8601. */
export interface Period {
  /** `d:2026-11-30`, `m:2026-11`. */
  readonly window: string
  readonly resetsAt: string
}

const DAY_MS = 86_400_000
const DAY_CHARACTERS = 10
const MONTH_CHARACTERS = 7

/** Memo of the last day, which is nearly always the present one. */
let known: { readonly day: number; readonly periods: Readonly<Record<Cap['period'], Period>> } | undefined

/** Returns the day or month of a moment. */
export function periodOf(period: Cap['period'], atMs: number): Period {
  const day = Math.floor(atMs / DAY_MS)
  if (known?.day !== day) known = { day, periods: periodsOf(day * DAY_MS) }
  return known.periods[period]
}

function periodsOf(midnightMs: number): Record<Cap['period'], Period> {
  const midnight = new Date(midnightMs)
  const date = midnight.toISOString()
  const nextMonthMs = Date.UTC(midnight.getUTCFullYear(), midnight.getUTCMonth() + 1, 1)
  return {
    day: { window: `d:${date.slice(0, DAY_CHARACTERS)}`, resetsAt: new Date(midnightMs + DAY_MS).toISOString() },
    month: { window: `m:${date.slice(0, MONTH_CHARACTERS)}`, resetsAt: new Date(nextMonthMs).toISOString() },
  }
}
