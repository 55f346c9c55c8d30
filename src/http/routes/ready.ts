import type { Middleware } from 'koa'
import type { Readiness } from '../readiness.ts'

/** Where load balancers ask. */
export const READY_PATH = '/ready'

/** `GET /ready`: 200 while the process wants requests, 503 from SIGTERM on. Calls nobody. */
export function readyRoute(readiness: Readiness): Middleware {
  return function ready(ctx) {
    ctx.status = readiness.isReady ? 200 : 503
    ctx.set('cache-control', 'no-store')
    ctx.body = { status: readiness.isReady ? 'ready' : 'draining' }
  }
}
