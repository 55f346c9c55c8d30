import type { Context, Middleware } from 'koa'
import { GatewayError } from '../core/errors.ts'
import { hostOf, isUnderKnownName } from './dashboard/own-page.ts'

/** Names that nobody can register, and so no site can lead: of one word, or under a private top-level domain. */
const PRIVATE_NAME = /^(?:[^.]*|.+\.(?:internal|local|test|home\.arpa))$/

/** Paths whose answers hold nothing of a user's. */
const PUBLIC_PATHS: ReadonlySet<string> = new Set([
  '/',
  '/api/hello',
  '/health',
  '/ready',
  '/openapi.json',
  '/llms.txt',
])

/** What tells requests of pages from those of programs. */
export interface OriginGuardOptions {
  /** Names under which the gateway is reached, besides local ones. */
  readonly knownHosts: ReadonlySet<string>
  readonly corsOrigins: readonly string[]
  /** Whether the gateway listens on loopback alone, where a foreign name is none of the operator's. */
  readonly isOnLoopback: boolean
}

/**
 * Refuses requests that a page in a browser has sent under a name which its site has led to this address (DNS rebinding):
 * where any credential lets in, any site that is visited could spend the operator's key, and read what others asked.
 * A page marks its requests with an origin, but for a GET of its own site under plain http: on loopback such a GET needs a
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
