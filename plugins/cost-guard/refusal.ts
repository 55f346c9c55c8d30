import { GatewayError } from 'turnpike/plugin'
import { periodOf } from './calendar.ts'
import type { BudgetWindow } from './windows.ts'

const NANO = 1e9

/** Nano-dollars as a number of dollars, for people and for bodies. */
export function toUsd(nanoUsd: number): number {
  return nanoUsd / NANO
}

/** The answer when a request costs more than one may, in every form that it could have. */
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

/** The answer when a window has no room for a request: `spent` + `estimated` is more than `limit`. */
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

/** Whether an error is a refusal by a cap. */
export function isRefusal(error: unknown): error is GatewayError {
  return error instanceof GatewayError && error.code.startsWith('cost_limit_per_')
}

/** The same refusal under the status that the operator has chosen. */
export function withStatus({ code, message, fields, headers }: GatewayError, status: number): GatewayError {
  return new GatewayError(code, message, { fields, headers, status })
}
