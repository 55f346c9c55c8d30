import type { Middleware } from 'koa'
import { GatewayError } from '../../core/errors.ts'
import type { FrameState } from '../frame.ts'
import { onClosed } from '../leaving.ts'
import type { LiveBatch } from './live-feed.ts'
import type { LivePages } from './live-pages.ts'
import type { ReadViewer } from './viewer.ts'

/** Below what proxies and browsers take for a dead connection. */
const KEEP_ALIVE_MS = 15_000
const RETRY_MS = 2000

/** What the live feed is made from. */
export interface LiveRouteOptions {
  readonly viewer: ReadViewer
  readonly live: LivePages
}

/** `GET /dashboard/api/live`: requests as they end, as server-sent events. */
export function liveRoute({ viewer, live: pages }: LiveRouteOptions): Middleware<FrameState> {
  return async function live(ctx) {
    const { scopes } = await viewer(ctx)
    const { res } = ctx
    // The page may have gone while its viewer was looked up: it would be watched for without end.
    if (res.destroyed) return
    const lastId = ctx.get('last-event-id') || undefined
    if (pages.isFull) throw new GatewayError('service_unavailable', 'Too many pages watch already. Close one of them.')
    ctx.respond = false
    res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
    res.write(`retry: ${RETRY_MS}\n\n`)
    const sink = { write: (batch: LiveBatch) => res.write(printEvents(batch)), end: () => void res.end() }
    const watcher = pages.watch({ scopes, sink, lastId })
    const keepAlive = setInterval(() => {
      if (!res.writableNeedDrain) res.write(': still here\n\n')
      // Keys come and go, and sessions end while a page stays open.
      viewer(ctx).then(
        (now) => {
          watcher.scopes = now.scopes
        },
        () => res.end(),
      )
    }, KEEP_ALIVE_MS)
    res.on('drain', () => watcher.onDrain())
    onClosed(res, () => {
      clearInterval(keepAlive)
      watcher.leave()
    })
  }
}

/** A batch as server-sent events. */
function printEvents({ requests, dropped }: LiveBatch): string {
  const rows = requests.map((request) => `id: ${request.id}\ndata: ${JSON.stringify(request)}\n\n`)
  return `${dropped === 0 ? '' : `event: dropped\ndata: ${dropped}\n\n`}${rows.join('')}`
}
