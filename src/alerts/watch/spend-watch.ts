import { shortUsd } from '../../core/money/usd.ts'
import type { Alert } from '../../core/ports/alerts.ts'
import { findUnusualSpend } from './unusual-spend.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const WEEK_MS = 7 * DAY_MS
const MOST_WEEKS = 8

/** Sums of all requests. */
export interface SpendHistory {
  /** Returns the cost of the hours in a range, in nano-USD. */
  costOf(range: { fromMs: number; toMs: number }): Promise<number>
  /** Returns the begin of the first hour that has sums; `undefined` for none. */
  firstHourMs(): Promise<number | undefined>
}

/** Reads today's spend and that of the same weekday in earlier weeks; returns the alert where it is unlike them. */
export async function readSpendAlert(
  history: SpendHistory,
  { nowMs, floorNanoUsd }: { nowMs: number; floorNanoUsd: number },
): Promise<Alert | undefined> {
  const dayMs = Math.floor(nowMs / DAY_MS) * DAY_MS
  // The current hour counts in full for earlier weeks, so that today is never ahead of them by the minute alone.
  const toMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS + HOUR_MS
  const todayNanoUsd = await history.costOf({ fromMs: dayMs, toMs })
  if (todayNanoUsd <= floorNanoUsd) return undefined
  const firstMs = (await history.firstHourMs()) ?? nowMs
  const pastNanoUsd: number[] = []
  const pastDaysNanoUsd: number[] = []
  for (let week = 1; week <= MOST_WEEKS && dayMs - week * WEEK_MS >= firstMs; week++) {
    const fromMs = dayMs - week * WEEK_MS
    pastNanoUsd.push(await history.costOf({ fromMs, toMs: toMs - week * WEEK_MS }))
    pastDaysNanoUsd.push(await history.costOf({ fromMs, toMs: fromMs + DAY_MS }))
  }
  const found = findUnusualSpend({ todayNanoUsd, pastNanoUsd, pastDaysNanoUsd, floorNanoUsd })
  if (found === undefined) return undefined
  const [today, usual] = [shortUsd(todayNanoUsd), shortUsd(found.usualNanoUsd)]
  return {
    kind: 'spend',
    subject: 'instance',
    severity: 'warning',
    title: `Spend is unlike the last weeks: ${today} today until now, ${usual} by this hour of the same weekday.`,
    details: { today, usual, bound: shortUsd(found.boundNanoUsd), weeks: pastNanoUsd.length },
    dedupeKey: `spend:${new Date(dayMs).toISOString().slice(0, 10)}`,
  }
}
