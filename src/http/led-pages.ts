import type { Middleware } from 'koa'
import { GatewayError } from '../core/errors.ts'
import { isUnderKnownName } from './dashboard/own-page.ts'

/**
 * Refuses requests that a page in a browser has sent under a name which its site has led to this address (DNS rebinding):
 * where any credential lets in, any site that is visited could spend the operator's key. Programs say no origin and may
 * use whatever name they like; so may pages of the allowed origins. Throws `permission_error`.
 */
export function refuseLedPages(knownHosts: ReadonlySet<string>, corsOrigins: readonly string[]): Middleware {
  const allowed = new Set(corsOrigins)
  return function ledPages(ctx, next) {
    const origin = ctx.get('origin')
    const isByPage = origin !== '' || ctx.get('sec-fetch-site') !== ''
    if (!isByPage || allowed.has(origin) || allowed.has('*') || isUnderKnownName(ctx, knownHosts)) return next()
    throw new GatewayError(
      'permission_error',
      'Pages are answered under `localhost`, a numeric address, or the host of `server.public_url`; or set `server.cors_origins`.',
    )
  }
}
