import type { Cap, CapsOf } from '../../core/money/caps.ts'
import { roomIn } from '../../core/money/room-in.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { PeopleStore } from '../../core/ports/people.ts'
import type { SpendLedger } from '../../core/ports/spend-ledger.ts'
import type { Caller } from '../../core/request/caller.ts'
import { scopeOfKey } from '../../core/request/caller.ts'
import { NO_TAGS } from '../../core/request/tags.ts'

/** Dependencies of a caller's limits and spend. */
export interface OwnLimitsOptions {
  readonly capsOf: CapsOf
  readonly ledger: Pick<SpendLedger, 'spent'>
  readonly store: Pick<PeopleStore, 'keyFacts' | 'keySpend'>
  readonly clock: Clock
}

/** A cap in force for a caller, and what is spent and held of it, in nano-USD. */
export interface OwnLimit {
  readonly period: Cap['period']
  readonly limitNanoUsd: number
  readonly usedNanoUsd: number
  readonly resetsAtMs: number
}

/** Recorded spend of a person, in nano-USD: of this UTC day, this week from Monday, and this month. */
export interface OwnSpend {
  readonly dayNanoUsd: number
  readonly weekNanoUsd: number
  readonly monthNanoUsd: number
}

const DAY_MS = 86_400_000
const DAYS_OF_WEEK = 7

/** Returns the caps in force for a caller: of each period the one with the least left, the fullest first. */
export async function readOwnLimits(
  { capsOf, ledger, clock }: Pick<OwnLimitsOptions, 'capsOf' | 'ledger' | 'clock'>,
  caller: Caller,
): Promise<OwnLimit[]> {
  const today = new Date(clock.nowMs())
  const windows = capsOf({ caller, tags: caller.tags ?? NO_TAGS }).windows.map((cap) => ({
    ...cap,
    window: windowOf(cap.period, today),
  }))
  const sums = await ledger.spent(windows)
  const balances = windows.flatMap((window, i) => {
    const sum = sums[i]
    return sum === undefined ? [] : [{ ...window, ...sum }]
  })
  const tightest = (['day', 'month'] as const).flatMap((period) => {
    const [first] = balances.filter((each) => each.period === period).sort((a, b) => roomIn(a) - roomIn(b))
    return first ?? []
  })
  const limits = tightest.map(({ period, limitNanoUsd, settledNanoUsd, heldNanoUsd }) => {
    const usedNanoUsd = settledNanoUsd + heldNanoUsd
    return { period, limitNanoUsd, usedNanoUsd, resetsAtMs: startOf(period, today, 1) }
  })
  return limits.sort((a, b) => shareOf(b) - shareOf(a))
}

/** Returns the used share of a cap: 0 to 1, or above it. */
export function shareOf({ limitNanoUsd, usedNanoUsd }: OwnLimit): number {
  return limitNanoUsd === 0 ? 1 : usedNanoUsd / limitNanoUsd
}

/** Returns the recorded spend of all keys of a person. */
export async function readOwnSpend(
  { store, clock }: Pick<OwnLimitsOptions, 'store' | 'clock'>,
  accountId: string,
): Promise<OwnSpend> {
  const now = new Date(clock.nowMs())
  const [dayMs, monthMs] = [startOf('day', now), startOf('month', now)]
  const weekMs = dayMs - ((now.getUTCDay() + DAYS_OF_WEEK - 1) % DAYS_OF_WEEK) * DAY_MS
  const scopes = (await store.keyFacts({ accountIds: [accountId] })).map(({ id }) => scopeOfKey(id))
  const [ofMonth, ofWeek] = await Promise.all([
    store.keySpend({ scopes, dayMs, monthMs }),
    // The statement reads from its second moment on, which is the Monday here.
    store.keySpend({ scopes, dayMs, monthMs: weekMs }),
  ])
  const sumOf = (rows: typeof ofMonth, member: 'dayNanoUsd' | 'monthNanoUsd') =>
    rows.reduce((sum, row) => sum + row[member], 0)
  return {
    dayNanoUsd: sumOf(ofMonth, 'dayNanoUsd'),
    weekNanoUsd: sumOf(ofWeek, 'monthNanoUsd'),
    monthNanoUsd: sumOf(ofMonth, 'monthNanoUsd'),
  }
}

const DAY_CHARACTERS = 10
const MONTH_CHARACTERS = 7

function windowOf(period: Cap['period'], now: Date): string {
  const text = now.toISOString()
  return period === 'day' ? `d:${text.slice(0, DAY_CHARACTERS)}` : `m:${text.slice(0, MONTH_CHARACTERS)}`
}

/** Returns the start of a moment's period, or of a later one. */
function startOf(period: Cap['period'], now: Date, later = 0): number {
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
  return period === 'day' ? Date.UTC(year, month, day + later) : Date.UTC(year, month + later, 1)
}
