import type { Middleware } from 'koa'
import { GatewayError } from '../../core/errors.ts'
import type { Clock } from '../../core/ports/clock.ts'
import { onClosed } from '../client-disconnect.ts'
import type { RequestState } from '../request-context.ts'
import type { LiveBatch } from './live-feed.ts'
import type { LivePages } from './live-pages.ts'
import type { ReadViewer } from './viewer.ts'

/** Heartbeat interval, shorter than the idle time-outs of proxies and browsers. */
const KEEP_ALIVE_MS = 15_000
const RETRY_MS = 2000
/** Longest delay of a timer, in milliseconds. */
const LONGEST_MS = 2 ** 31 - 1

/** Dependencies of the live feed's route. */
export interface LiveRouteOptions {
  readonly viewer: ReadViewer
  readonly live: LivePages
  readonly clock: Clock
}

/** `GET /dashboard/api/live`: requests as they end, as server-sent events, until the session of the page ends. */
export function liveRoute({ viewer, live: pages, clock }: LiveRouteOptions): Middleware<RequestState> {
  return async function live(ctx) {
    const { scopes, expiresAtMs = Number.POSITIVE_INFINITY } = await viewer(ctx)
    const { res } = ctx
    // The page may have disconnected during the lookup of its viewer, and would then be a watcher forever.
    if (res.destroyed) return
    const lastId = ctx.get('last-event-id') || undefined
    if (pages.isFull) throw new GatewayError('service_unavailable', 'Too many pages watch already. Close one of them.')
    ctx.respond = false
    res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
    res.write(`retry: ${RETRY_MS}\n\n`)
    // A page that reads nothing delays the close of its response; a write until then would be an uncaught exception.
    const stop = () => {
      clearInterval(keepAlive)
      clearTimeout(expiry)
      watcher.leave()
      res.end()
    }
    const sink = { write: (batch: LiveBatch) => res.write(printEvents(batch)), end: stop }
    const watcher = pages.watch({ scopes, sink, lastId })
    const keepAlive = setInterval(() => {
      if (!res.writableNeedDrain) res.write(': still here\n\n')
      // Keys are created and revoked, and sessions end, while a page stays open.
      viewer(ctx).then((now) => {
        watcher.scopes = now.scopes
      }, stop)
    }, KEEP_ALIVE_MS)
    const expiry = setTimeout(stop, Math.min(LONGEST_MS, expiresAtMs - clock.nowMs()))
    res.on('drain', () => watcher.onDrain())
    onClosed(res, stop)
  }
}

/** Prints a batch as server-sent events. */
function printEvents({ requests, dropped }: LiveBatch): string {
  const rows = requests.map((request) => `id: ${request.id}\ndata: ${JSON.stringify(request)}\n\n`)
  return `${dropped === 0 ? '' : `event: dropped\ndata: ${dropped}\n\n`}${rows.join('')}`
}
