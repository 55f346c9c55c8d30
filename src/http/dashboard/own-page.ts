import { isIP } from 'node:net'
import type { Context } from 'koa'
import { GatewayError } from '../../core/errors.ts'

/** Headers that a proxy adds: what comes through one is not of this machine, whatever its socket says. */
const PROXIED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'via']
const LOOPBACK = /^(127\.|::1$|::ffff:127\.)/

/** Whether a request was made by a page of this gateway's own, or by no page at all. */
export function isOwnPage(ctx: Context): boolean {
  const site = ctx.get('sec-fetch-site')
  if (site !== '' && site !== 'same-origin' && site !== 'none') return false
  const origin = ctx.get('origin')
  return origin === '' || (URL.canParse(origin) && new URL(origin).host === ctx.get('host'))
}

/**
 * Refuses what another site's page may have sent: by a plain call, or by a name of its own that it has led to this address
 * (DNS rebinding). An address in numbers cannot be led anywhere. Throws `permission_error`.
 */
export function assertOwnPage(ctx: Context, knownHosts: ReadonlySet<string>): void {
  if (isUnderKnownName(ctx, knownHosts) && isOwnPage(ctx)) return
  throw new GatewayError(
    'permission_error',
    'The dashboard answers its own pages only, under `localhost`, a numeric address, or the host of `server.public_url`.',
  )
}

/** Whether the gateway was asked under a name that nobody else can lead to its address: `localhost`, a number, its own. */
export function isUnderKnownName(ctx: Context, knownHosts: ReadonlySet<string>): boolean {
  const host = hostOf(ctx)
  return isLocalName(host) || isIP(host) !== 0 || knownHosts.has(host)
}

/** Whether the gateway was asked under a name that leads to the browser's own machine. */
export function isUnderLoopbackName(ctx: Context): boolean {
  const host = hostOf(ctx)
  return isLocalName(host) || LOOPBACK.test(host)
}

/** Whether a request comes from this very machine, and not through a proxy on it. */
export function isOfThisMachine(ctx: Context): boolean {
  const { remoteAddress = '' } = ctx.req.socket
  return LOOPBACK.test(remoteAddress) && PROXIED.every((name) => ctx.get(name) === '')
}

/** Refuses browsers of other machines. Throws `permission_error`. */
export function assertLoopback(ctx: Context): void {
  if (isOfThisMachine(ctx)) return
  throw new GatewayError(
    'permission_error',
    'In local mode the dashboard is shown on the gateway’s own machine only. Open a tunnel (`ssh -L 3099:127.0.0.1:3099 …`), or set `SVC_DASHBOARD=open` where nobody else can reach the port.',
  )
}

/** The name under which the gateway was asked, without its port. */
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
