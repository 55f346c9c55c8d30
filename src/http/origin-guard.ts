import type { Context, Middleware } from 'koa'
import { GatewayError } from '../core/errors.ts'
import { hostOf, isUnderKnownName } from './dashboard/own-page.ts'

/** Names that cannot be registered, and so not rebound: of one label, or under a private top-level domain. */
const PRIVATE_NAME = /^(?:[^.]*|.+\.(?:internal|local|test|home\.arpa))$/

/** Paths whose replies contain no user data. */
const PUBLIC_PATHS: ReadonlySet<string> = new Set([
  '/',
  '/api/hello',
  '/health',
  '/ready',
  '/openapi.json',
  '/llms.txt',
])

/** Input of `createOriginGuard`. */
export interface OriginGuardOptions {
  /** Host names of the gateway, besides local ones. */
  readonly knownHosts: ReadonlySet<string>
  readonly corsOrigins: readonly string[]
  /** True when the gateway listens on loopback alone, where a public host name cannot be the operator's. */
  readonly isOnLoopback: boolean
}

/**
 * Refuses requests of browser pages whose site has rebound its name to this address (DNS rebinding): where any
 * credential is accepted, a visited site could spend the operator's provider key and read other requests. Browsers send
 * an origin with a page's requests, except for a same-origin GET over plain http: on loopback such a GET needs a host
 * name that no site can have. Throws `permission_error`.
 */
export function createOriginGuard({ knownHosts, corsOrigins, isOnLoopback }: OriginGuardOptions): Middleware {
  const allowed = new Set(corsOrigins)
  const mayBeByPage = (ctx: Context) =>
    isMarked(ctx) || (isOnLoopback && isRead(ctx) && !PUBLIC_PATHS.has(ctx.path) && !PRIVATE_NAME.test(hostOf(ctx)))
  return function originGuard(ctx, next) {
    const isAllowed = allowed.has(ctx.get('origin')) || allowed.has('*')
    if (isAllowed || !mayBeByPage(ctx) || isUnderKnownName(ctx, knownHosts)) return next()
    throw new GatewayError(
      'permission_error',
      'Pages, and GET requests on loopback, are answered under `localhost`, a numeric address, a private name, or the host of `server.public_url`; or set `server.cors_origins`.',
    )
  }
}

function isMarked(ctx: Context): boolean {
  return ctx.get('origin') !== '' || ctx.get('sec-fetch-site') !== ''
}

function isRead({ method }: Context): boolean {
  return method === 'GET' || method === 'HEAD'
}
