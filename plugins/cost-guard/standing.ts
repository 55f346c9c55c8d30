import type { SpendLedger } from 'turnpike/plugin'
import { toUsd } from './refusal.ts'
import { type Budget, resetsAt } from './windows.ts'

/** Reply headers that tell what is left in each period, in USD: that of the window in which the least is left. */
export async function standing(
  { windows }: Budget,
  spend: Pick<SpendLedger, 'spent'>,
  atMs: number,
): Promise<Record<string, string>> {
  if (windows.length === 0) return {}
  const sums = await spend.spent(windows)
  const headers: Record<string, string> = {}
  const lefts = new Map<string, number>()
  for (const [index, { period, limitNanoUsd }] of windows.entries()) {
    const { settledNanoUsd = 0, heldNanoUsd = 0 } = sums[index] ?? {}
    const left = Math.max(0, limitNanoUsd - settledNanoUsd - heldNanoUsd)
    const known = lefts.get(period)
    if (known !== undefined && known <= left) continue
    lefts.set(period, left)
    headers[`x-svc-budget-${period}-limit`] = String(toUsd(limitNanoUsd))
    headers[`x-svc-budget-${period}-remaining`] = String(toUsd(left))
    headers[`x-svc-budget-${period}-reset`] = resetsAt(period, atMs)
  }
  return headers
}
