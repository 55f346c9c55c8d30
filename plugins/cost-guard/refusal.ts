import { GatewayError } from 'turnpike/plugin'
import { type BudgetWindow, resetsAt } from './windows.ts'

const NANO = 1e9

/** Nano-dollars as a number of dollars, for people and for bodies. */
export function toUsd(nanoUsd: number): number {
  return nanoUsd / NANO
}

/** The answer when even the cheapest form of a request costs more than one may. */
export function requestRefusal(limitNanoUsd: number, estimatedNanoUsd: number, atMs: number): GatewayError {
  return new GatewayError(
    'cost_limit_per_request',
    `The request is expected to cost at least $${toUsd(estimatedNanoUsd)}, and may cost $${toUsd(limitNanoUsd)}.`,
    {
      fields: {
        limit: toUsd(limitNanoUsd),
        spent: 0,
        estimated: toUsd(estimatedNanoUsd),
        resets_at: new Date(atMs).toISOString(),
      },
    },
  )
}

/** The answer when a window has no room for a request: `spent` + `estimated` is more than `limit`. */
export function windowRefusal(
  { period, limitNanoUsd }: BudgetWindow,
  { spentNanoUsd, estimatedNanoUsd, atMs }: { spentNanoUsd: number; estimatedNanoUsd: number; atMs: number },
): GatewayError {
  const resets = resetsAt(period, atMs)
  return new GatewayError(
    period === 'day' ? 'cost_limit_per_day' : 'cost_limit_per_month',
    `Of $${toUsd(limitNanoUsd)} a ${period}, $${toUsd(spentNanoUsd)} is spent or held for running requests; this one needs $${toUsd(estimatedNanoUsd)}. Resets at ${resets}.`,
    {
      fields: {
        limit: toUsd(limitNanoUsd),
        spent: toUsd(spentNanoUsd),
        estimated: toUsd(estimatedNanoUsd),
        resets_at: resets,
      },
    },
  )
}
