import { GatewayError } from 'turnpike/plugin'
import { toUsd } from 'turnpike/plugin/spend'
import { periodOf } from './calendar.ts'
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

/** Returns the error of a request that does not fit a window: `spent` + `estimated` is more than `limit`. */
export function windowRefusal(
  { period, limitNanoUsd }: BudgetWindow,
  { spentNanoUsd, estimatedNanoUsd, atMs }: { spentNanoUsd: number; estimatedNanoUsd: number; atMs: number },
): GatewayError {
  const resets = periodOf(period, atMs).resetsAt
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

/** Tests for a refusal by a cap. */
export function isRefusal(error: unknown): error is GatewayError {
  return error instanceof GatewayError && error.code.startsWith('cost_limit_per_')
}

/** Returns the same refusal with the status that the operator has configured. */
export function withStatus({ code, message, fields, headers }: GatewayError, status: number): GatewayError {
  return new GatewayError(code, message, { fields, headers, status })
}
