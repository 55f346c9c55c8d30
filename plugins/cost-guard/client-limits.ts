/**
 * DESIGN: caps of a caller as coding agents show limits of an account.
 *
 * Each agent reads headers of its own. Codex shows both windows in `/status`. Claude Code reads one window, the fullest, as
 * usage credits: it warns beyond 75 % and 95 % where it is signed in to a gateway, and shows the message of a refusal of the
 * type `billing_error` as it is. Neither a claim nor `overage-status` is in a refusal: with them Claude Code writes a text of
 * its own. Source: the gateway protocol of Claude Code 2.1.329, "Usage-limit headers"; tried by `npm run test:limits`.
 */
import type { Exchange } from 'turnpike/plugin'
import { GatewayError } from 'turnpike/plugin'
import { type CalendarBalance, leftIn, tightestOf, type WindowBalance } from './budget-headers.ts'
import { periodOf } from './calendar.ts'

type Headers = Record<string, string>
/** The agent that reads limits, and its form. */
export type LimitForm = 'claude-code' | 'codex'

const PERIODS = ['day', 'month'] as const
const REFUSED_STATUS = 429

/** Returns the form of limits that a client reads; `undefined` for a client without one. */
export function limitFormOf({
  dialect,
  conversation,
}: Pick<Exchange, 'dialect' | 'conversation'>): LimitForm | undefined {
  if (dialect.name === 'responses') return 'codex'
  return dialect.name === 'messages' && conversation.client === 'claude-code' ? 'claude-code' : undefined
}

/** Returns the reply headers with the shares of the caps that are spent or held; none without a window. */
export function limitHeaders(
  form: LimitForm,
  windows: readonly WindowBalance[],
  { atMs, isRefused = false }: { atMs: number; isRefused?: boolean },
): Headers {
  if (form === 'codex') return codexHeaders(windows, atMs)
  return isRefused ? {} : claudeCodeHeaders(windows, atMs)
}

const DAY_MINUTES = 1440
const MINUTE_MS = 60_000
/** Codex shows two windows: the shorter one first. */
const CODEX_NAMES = { day: 'x-codex-primary', month: 'x-codex-secondary' } as const

function codexHeaders(windows: readonly WindowBalance[], atMs: number): Headers {
  const headers: Headers = {}
  for (const period of PERIODS) {
    const tightest = tightestOf(windows, period)
    if (tightest === undefined) continue
    const name = CODEX_NAMES[period]
    headers[`${name}-used-percent`] = String(Math.round(usedShare(tightest) * 1000) / 10)
    headers[`${name}-window-minutes`] = String(period === 'day' ? DAY_MINUTES : minutesOfMonth(atMs))
    headers[`${name}-reset-at`] = String(resetSeconds(period, atMs))
  }
  return headers
}

function minutesOfMonth(atMs: number): number {
  const date = new Date(atMs)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  return (Date.UTC(year, month + 1, 1) - Date.UTC(year, month, 1)) / MINUTE_MS
}

const UNIFIED = 'anthropic-ratelimit-unified'
const THRESHOLDS = [0.95, 0.75]
/** A share of 1 is a refusal's. */
const MOST_USED = 0.99

function claudeCodeHeaders(windows: readonly WindowBalance[], atMs: number): Headers {
  const [fullest] = PERIODS.flatMap((period) => tightestOf(windows, period) ?? []).sort(
    (a, b) => usedShare(b) - usedShare(a),
  )
  if (fullest === undefined) return {}
  const used = Math.min(MOST_USED, Math.floor(usedShare(fullest) * 100) / 100)
  const threshold = THRESHOLDS.find((each) => used >= each)
  const status = threshold === undefined ? 'allowed' : 'allowed_warning'
  const reset = String(resetSeconds(fullest.period, atMs))
  return {
    [`${UNIFIED}-status`]: status,
    [`${UNIFIED}-representative-claim`]: 'overage',
    [`${UNIFIED}-reset`]: reset,
    [`${UNIFIED}-overage-status`]: status,
    [`${UNIFIED}-overage-utilization`]: String(used),
    [`${UNIFIED}-overage-reset`]: reset,
    ...(threshold !== undefined && { [`${UNIFIED}-overage-surpassed-threshold`]: String(threshold) }),
  }
}

const OVERAGE_PERIODS: Partial<Record<GatewayError['code'], string>> = {
  cost_limit_per_day: 'daily',
  cost_limit_per_month: 'monthly',
}

/** Returns a cap's refusal in the form that Claude Code ends its turn with: 429 `billing_error`. */
export function toBillingError({ code, message, fields, headers, cause }: GatewayError, atMs: number): GatewayError {
  const period = OVERAGE_PERIODS[code]
  return new GatewayError(code, message, {
    status: REFUSED_STATUS,
    fields: { ...fields, type: 'billing_error' },
    headers: period === undefined ? headers : { ...headers, ...refusedHeaders(period, fields, atMs) },
    cause,
  })
}

function refusedHeaders(period: string, { resets_at: resetsAt }: GatewayError['fields'], atMs: number): Headers {
  const resetMs = Date.parse(String(resetsAt))
  const reset = String(Math.ceil(resetMs / 1000))
  return {
    'retry-after': String(Math.max(0, Math.ceil((resetMs - atMs) / 1000))),
    [`${UNIFIED}-status`]: 'rejected',
    [`${UNIFIED}-reset`]: reset,
    [`${UNIFIED}-overage-reset`]: reset,
    [`${UNIFIED}-overage-utilization`]: '1',
    [`${UNIFIED}-overage-surpassed-threshold`]: '1',
    [`${UNIFIED}-overage-period`]: period,
    [`${UNIFIED}-overage-disabled-reason`]: 'org_spend_cap_reached',
  }
}

/** Returns the share of a window that is spent or held: 0 to 1. */
function usedShare(window: CalendarBalance): number {
  return window.limitNanoUsd === 0 ? 1 : 1 - leftIn(window) / window.limitNanoUsd
}

function resetSeconds(period: CalendarBalance['period'], atMs: number): number {
  return Date.parse(periodOf(period, atMs).resetsAt) / 1000
}
