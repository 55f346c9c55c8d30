import { GatewayError } from 'turnpike/plugin'
import { toUsd } from 'turnpike/plugin/spend'
import { BUDGET_CODES, budgetRefusal } from './budget-refusal.ts'
import { periodOf } from './calendar.ts'
import { capOwner } from './cap-owner.ts'
import type { BudgetWindow } from './windows.ts'

/** Returns the error of a request that exceeds the cap per request, in every form it could have. */
export function requestRefusal(limitNanoUsd: number, estimatedNanoUsd: number, atMs: number): GatewayError {
  return new GatewayError(
    'cost_limit_per_request',
    `The request needs $${toUsd(estimatedNanoUsd)}, and one request may cost $${toUsd(limitNanoUsd)}. Lower \`max_tokens\`, or shorten the input.`,
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

/** Amounts of a refusal by a window. */
export interface RefusedAmounts {
  readonly spentNanoUsd: number
  readonly raisedNanoUsd?: number | undefined
  readonly estimatedNanoUsd: number
  readonly atMs: number
}

/** Returns the error of a request that does not fit a window: `spent` + `estimated` is more than `limit`. */
export function windowRefusal(window: BudgetWindow, amounts: RefusedAmounts): GatewayError {
  const { limitNanoUsd } = window
  const { spentNanoUsd, raisedNanoUsd = 0, estimatedNanoUsd, atMs } = amounts
  if ('budget' in window)
    return budgetRefusal(window, {
      limit: limitNanoUsd + raisedNanoUsd,
      spent: spentNanoUsd,
      estimated: estimatedNanoUsd,
    })
  const { period, scope } = window
  const { words, ...owner } = capOwner(scope)
  const resets = periodOf(period, atMs).resetsAt
  return new GatewayError(
    period === 'day' ? 'cost_limit_per_day' : 'cost_limit_per_month',
    `Of $${toUsd(limitNanoUsd)} a ${period} for ${words}, $${toUsd(spentNanoUsd)} is spent or held for running requests; this one needs $${toUsd(estimatedNanoUsd)}. Resets at ${resets}.`,
    {
      fields: {
        limit: toUsd(limitNanoUsd),
        spent: toUsd(spentNanoUsd),
        estimated: toUsd(estimatedNanoUsd),
        resets_at: resets,
        ...owner,
      },
    },
  )
}

const CAP_CODES: ReadonlySet<string> = new Set(['cost_limit_per_request', 'cost_limit_per_day', 'cost_limit_per_month'])

/** Tests for a refusal by a cap. */
export function isRefusal(error: unknown): error is GatewayError {
  return error instanceof GatewayError && (CAP_CODES.has(error.code) || BUDGET_CODES.has(error.code))
}

/** Returns the same refusal with the status that the operator has configured. */
export function withStatus({ code, message, fields, headers }: GatewayError, status: number): GatewayError {
  return new GatewayError(code, message, { fields, headers, status })
}
