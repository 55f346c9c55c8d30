import type { Middleware } from 'koa'
import { z } from 'zod'
import type { Clock } from '../../core/ports/clock.ts'
import type { Telemetry } from '../../core/telemetry/telemetry.ts'
import type { RequestState } from '../request-context.ts'
import { readQuery } from './query.ts'
import { CHART_SHAPE, toChart } from './usage-query.ts'
import type { ReadViewer } from './viewer.ts'

/** Conversations have no sums in steps. */
const query = z.strictObject(CHART_SHAPE).omit({ conversation: true })

/** Dependencies of the overview. */
export interface OverviewRouteOptions {
  readonly viewer: ReadViewer
  readonly telemetry: Pick<Telemetry, 'usage' | 'losses'>
  readonly clock: Clock
}

/**
 * `GET /dashboard/api/overview?range=24h`: returns the usage of the viewer's requests in steps, from sums, and their losses of
 * the prompt cache by reason.
 */
export function overviewRoute({ viewer, telemetry, clock }: OverviewRouteOptions): Middleware<RequestState> {
  return async function overview(ctx) {
    const { scopes } = await viewer(ctx)
    const { range, filter } = toChart(readQuery(query, ctx), clock.nowMs())
    const { steps, ...asked } = range
    const [found, losses] = await Promise.all([
      telemetry.usage(scopes, { ...asked, ...filter }),
      telemetry.losses(scopes, { ...asked, ...filter }),
    ])
    const sums = found.map((own) => ({ ...own, fromMs: steps.get(own.fromMs) ?? range.fromMs }))
    const { fromMs, toMs, stepMs } = range
    ctx.body = { fromMs, toMs, stepMs, steps: [...steps.values()], sums, losses }
  }
}
