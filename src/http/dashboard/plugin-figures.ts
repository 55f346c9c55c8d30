import type { Middleware } from 'koa'
import type { Clock } from '../../core/ports/clock.ts'
import type { Telemetry } from '../../core/telemetry/telemetry.ts'
import type { RequestState } from '../request-context.ts'
import type { ReadViewer } from './viewer.ts'

/** Dependencies of the route of plugins' figures. */
export interface PluginFiguresOptions {
  readonly viewer: ReadViewer
  readonly telemetry: Pick<Telemetry, 'groups' | 'modules'>
  readonly clock: Clock
}

const DAY_MS = 86_400_000
const WEEK_DAYS = 7
const MOST_MODULES = 200
/** A trace has a kilobyte; more would delay other queries. */
const SAMPLE = 2000

/**
 * `GET /dashboard/api/plugins/figures`: returns sums of the viewer's requests by plugin, of today (UTC) and of the last seven
 * days, and the work of each plugin in the newest of them.
 */
export function pluginFiguresRoute({ viewer, telemetry, clock }: PluginFiguresOptions): Middleware<RequestState> {
  return async function showFigures(ctx) {
    const { scopes } = await viewer(ctx)
    const todayMs = Math.floor(clock.nowMs() / DAY_MS) * DAY_MS
    const weekMs = todayMs - (WEEK_DAYS - 1) * DAY_MS
    const since = (fromMs: number) => telemetry.groups(scopes, { by: 'module', fromMs, limit: MOST_MODULES })
    const [today, week, sample] = await Promise.all([
      since(todayMs),
      since(weekMs),
      telemetry.modules(scopes, { fromMs: weekMs, most: SAMPLE }),
    ])
    ctx.body = { today: today.groups, week: week.groups, sample }
  }
}
