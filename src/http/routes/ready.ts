import type { Middleware } from 'koa'
import type { Readiness } from '../readiness.ts'

/** Path that load balancers probe. */
export const READY_PATH = '/ready'

/**
 * `GET /ready`: 200 while the process is ready, 503 from SIGTERM on and while the database’s file is missing. Calls no
 * other service.
 */
export function readyRoute(readiness: Readiness): Middleware {
  return function ready(ctx) {
    const { state } = readiness
    ctx.status = state === 'ready' ? 200 : 503
    ctx.set('cache-control', 'no-store')
    ctx.body = { status: state }
  }
}
