import type { Middleware } from 'koa'
import {
  type OwnLimit,
  type OwnLimitsOptions,
  type OwnSpend,
  readOwnLimits,
  readOwnSpend,
  shareOf,
} from '../../accounts/people/own-limits.ts'
import { toUsd } from '../../core/money/usd.ts'
import type { RequestState } from '../request-context.ts'
import { type OwnCallerOptions, ownCaller } from './own-caller.ts'

/** Dependencies of the route of a caller's usage. */
export interface OwnUsageOptions extends OwnCallerOptions, Omit<OwnLimitsOptions, 'store'> {
  /** Recorded spend; `undefined` where telemetry is off. */
  readonly store: OwnLimitsOptions['store'] | undefined
}

const CENTS_PER_USD = 100
const GROUPS = { day: 'daily', month: 'monthly' } as const
/** Shares beyond which a cap is nearly full: those of the headers that Claude Code warns at. */
const WARNING = 0.75
const CRITICAL = 0.95

/**
 * `GET /api/oauth/usage`: returns the caller's caps, or without caps the user's spend, in the form of Claude Code's gateway
 * protocol: cents, and whole percents.
 */
export function ownUsageRoute(options: OwnUsageOptions): Middleware<RequestState> {
  return async function showOwnUsage(ctx) {
    const caller = await ownCaller(ctx, options)
    ctx.set('cache-control', 'no-store')
    const limits = await readOwnLimits(options, caller)
    const [fullest] = limits
    if (fullest !== undefined) ctx.body = { extra_usage: usageOf(fullest), limits: limits.map(rowOf) }
    else if (options.store !== undefined && caller.userId !== undefined)
      ctx.body = {
        extra_usage: spendOf(await readOwnSpend({ ...options, store: options.store }, caller.userId)),
        limits: [],
      }
    else ctx.body = { limits: [] }
  }
}

function usageOf(limit: OwnLimit) {
  return {
    is_enabled: true,
    monthly_limit: toCents(limit.limitNanoUsd),
    used_credits: toCents(limit.usedNanoUsd),
    utilization: percentOf(limit),
    currency: 'USD',
  }
}

function rowOf(limit: OwnLimit, index: number) {
  const share = shareOf(limit)
  return {
    kind: 'spend',
    group: GROUPS[limit.period],
    percent: percentOf(limit),
    resets_at: new Date(limit.resetsAtMs).toISOString(),
    severity: share > CRITICAL ? 'critical' : share > WARNING ? 'warning' : 'normal',
    // The one whose dollars are shown.
    is_active: index === 0,
  }
}

function spendOf({ dayNanoUsd, weekNanoUsd, monthNanoUsd }: OwnSpend) {
  const unlimited = (nanoUsd: number) => ({ limit: null, used_credits: toCents(nanoUsd), utilization: null })
  return {
    is_enabled: true,
    monthly_limit: null,
    used_credits: toCents(monthNanoUsd),
    utilization: null,
    currency: 'USD',
    daily: unlimited(dayNanoUsd),
    weekly: unlimited(weekNanoUsd),
  }
}

function toCents(nanoUsd: number): number {
  return Math.round(toUsd(nanoUsd) * CENTS_PER_USD)
}

/** Returns whole percents: below 100 while something is left, as in the headers of replies. */
function percentOf(limit: OwnLimit): number {
  return Math.floor(shareOf(limit) * 100)
}
