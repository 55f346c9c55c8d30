import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Context, Middleware } from 'koa'
import { GatewayError } from '../../core/errors.ts'
import { isOfThisMachine, isUnderKnownName } from '../dashboard/own-page.ts'

const NO_OTHERS: ReadonlySet<string> = new Set()

/** Dependencies of `/metrics`. */
export interface MetricsRouteOptions {
  /** Prints all metrics; `undefined` when they are off. */
  readonly print: (() => Promise<string>) | undefined
  /** Media type of the text. */
  readonly type: string
  /** Bearer token that allows reading. */
  readonly token: string | undefined
  readonly mode: 'local' | 'cloud'
}

/**
 * `GET /metrics`: for requests with the token. If none is configured, in local mode for this machine; a cloud gateway
 * often has a proxy on its machine, behind which every client would seem local.
 */
export function metricsRoute({ print, type, token, mode }: MetricsRouteOptions): Middleware {
  return async function metrics(ctx) {
    if (print === undefined)
      throw new GatewayError('not_configured', 'Nothing is counted: `metrics.enabled` is off.', { detail: 'metrics' })
    if (token === undefined) assertNeighbour(ctx, mode)
    else assertToken(ctx.req, token)
    ctx.set('cache-control', 'no-store')
    ctx.set('content-type', type)
    ctx.body = await print()
  }
}

function assertToken({ headers }: IncomingMessage, token: string): void {
  const shown = headers.authorization ?? ''
  if (isSame(shown, `Bearer ${token}`)) return
  throw new GatewayError('authentication_error', 'Expected `authorization: Bearer` and the token of `metrics.token`.')
}

function assertNeighbour(ctx: Context, mode: MetricsRouteOptions['mode']): void {
  if (mode === 'local' && isOfThisMachine(ctx) && isUnderKnownName(ctx, NO_OTHERS)) return
  throw new GatewayError('not_configured', 'Set `metrics.token` (SVC_METRICS_TOKEN) and send it as a bearer token.', {
    detail: 'metrics',
  })
}

function isSame(shown: string, expected: string): boolean {
  const digest = (text: string) => hash('sha256', text, 'buffer')
  return timingSafeEqual(digest(shown), digest(expected))
}
