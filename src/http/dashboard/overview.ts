import type { Middleware } from 'koa'
import { GatewayError } from '../../core/errors.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Telemetry, UsageRange } from '../../core/telemetry/telemetry.ts'
import type { RequestState } from '../request-context.ts'
import type { ReadViewer } from './viewer.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Ranges, with steps that a chart can show. */
const RANGES: Readonly<Record<string, { lengthMs: number; stepMs: number }>> = {
  '24h': { lengthMs: DAY_MS, stepMs: HOUR_MS },
  '7d': { lengthMs: 7 * DAY_MS, stepMs: 6 * HOUR_MS },
  '30d': { lengthMs: 30 * DAY_MS, stepMs: DAY_MS },
  '12mo': { lengthMs: 365 * DAY_MS, stepMs: 7 * DAY_MS },
}

/**
 * `GET /dashboard/api/overview?range=24h`: returns the usage of the viewer's requests in steps, from the sums by hour, and
 * their losses of the prompt cache by reason.
 */
export function overviewRoute({
  viewer,
  telemetry,
  clock,
}: {
  viewer: ReadViewer
  telemetry: Pick<Telemetry, 'usage' | 'losses'>
  clock: Clock
}): Middleware<RequestState> {
  return async function overview(ctx) {
    const { scopes } = await viewer(ctx)
    const range = rangeOf(String(ctx.query.range ?? '24h'), clock.nowMs())
    const [sums, losses] = await Promise.all([telemetry.usage(scopes, range), telemetry.losses(scopes, range)])
    ctx.body = { ...range, sums, losses }
  }
}

/** Returns the range that ends with the current step. */
function rangeOf(name: string, nowMs: number): UsageRange {
  const found = RANGES[name]
  if (found === undefined)
    throw new GatewayError('invalid_request', `range: expected ${Object.keys(RANGES).join(', ')}, got \`${name}\`.`)
  const { lengthMs, stepMs } = found
  const toMs = Math.floor(nowMs / stepMs) * stepMs + stepMs
  return { fromMs: Math.max(0, toMs - lengthMs), toMs, stepMs }
}
