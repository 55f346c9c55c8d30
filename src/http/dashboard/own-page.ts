import { isIP } from 'node:net'
import type { Context } from 'koa'
import { GatewayError } from '../../core/errors.ts'

/** Headers of proxies: a request with one is not from this machine, even if its socket is. */
const PROXIED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'via']
const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/

/** Returns whether a request was sent by a page of this gateway, or by no page. */
export function isOwnPage(ctx: Context): boolean {
  const site = ctx.get('sec-fetch-site')
  if (site !== '' && site !== 'same-origin' && site !== 'none') return false
  const origin = ctx.get('origin')
  return origin === '' || (URL.canParse(origin) && new URL(origin).host === ctx.get('host'))
}

/**
 * Refuses requests that another site's page may have sent: cross-site, or under a name that it has rebound to this
 * address (DNS rebinding). A numeric address cannot be rebound. Throws `permission_error`.
 */
export function assertOwnPage(ctx: Context, knownHosts: ReadonlySet<string>): void {
  if (isUnderKnownName(ctx, knownHosts) && isOwnPage(ctx)) return
  throw new GatewayError(
    'permission_error',
    'The dashboard answers its own pages only, under `localhost`, a numeric address, or the host of `server.public_url`.',
  )
}

/** Returns whether the request's host cannot be rebound: `localhost`, a numeric address, or the gateway's own name. */
export function isUnderKnownName(ctx: Context, knownHosts: ReadonlySet<string>): boolean {
  const host = hostOf(ctx)
  return isLocalName(host) || isIP(host) !== 0 || knownHosts.has(host)
}

/** Returns whether the request's host is a loopback name or address. */
export function isUnderLoopbackName(ctx: Context): boolean {
  const host = hostOf(ctx)
  return isLocalName(host) || (isIP(host) !== 0 && LOOPBACK.test(host))
}

/** Returns whether a request comes from this machine, and not through a proxy on it. */
export function isOfThisMachine(ctx: Context): boolean {
  const { remoteAddress = '' } = ctx.req.socket
  return LOOPBACK.test(remoteAddress) && PROXIED.every((name) => ctx.get(name) === '')
}

/** Refuses browsers of other machines. Throws `permission_error`. */
export function assertLoopback(ctx: Context): void {
  if (isOfThisMachine(ctx)) return
  throw new GatewayError(
    'permission_error',
    'In local mode the dashboard is shown on the gateway’s own machine only. Open a tunnel (`ssh -L 3099:127.0.0.1:3099 …`), or set `SVC_DASHBOARD=open` if no other machine can reach the port.',
  )
}

/** Returns the request's host, without its port. */
export function hostOf(ctx: Context): string {
  return ctx
    .get('host')
    .toLowerCase()
    .replace(/:\d+$/, '')
    .replace(/^\[|\]$/g, '')
}

function isLocalName(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost')
}
