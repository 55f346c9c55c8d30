import type { Context } from 'koa'
import { GatewayError } from '../../core/errors.ts'
import { isOwnPage, isUnderLoopbackName } from './own-page.ts'

/**
 * DESIGN — the session of a browser
 *
 * The dashboard hands a session token over once, and the browser keeps it where no script can read it: in a cookie that
 * is HttpOnly and SameSite=Strict, and `Secure` unless the page is under a loopback name. A page that came over plain http
 * under another name cannot sign in: its token could be read on the way. A cookie comes by itself,
 * so it counts only for requests that the dashboard's own pages have made, told by what a browser says of their origin and
 * by a header that another site could not send without being asked first.
 */
const COOKIE = 'turnpike_session'
/** Sent by the dashboard's pages with every call; event streams cannot send headers and only read. */
const MARK = 'x-turnpike-dashboard'
/** Beyond it browsers drop a cookie in silence. */
export const LONGEST_COOKIE_TOKEN = 3800
const SAFE_METHODS = new Set(['GET', 'HEAD'])

/** The token in the cookie, of a request that a page of ours has made. */
export function dashboardTokenOf(ctx: Context): string | undefined {
  const isMarked = SAFE_METHODS.has(ctx.method) || ctx.get(MARK) !== ''
  return isMarked && isOwnPage(ctx) ? ctx.cookies.get(COOKIE) : undefined
}

/**
 * Hands the token to the browser until `expiresAtMs`; `undefined`: takes it back. Throws `permission_error` for a page
 * that came over plain http from another machine.
 */
export function setDashboardToken(ctx: Context, token: string | undefined, expiresAtMs = 0): void {
  const isHttps = ctx.secure || ctx.get('origin').startsWith('https:')
  const isElsewhere = !isUnderLoopbackName(ctx)
  if (token !== undefined && isElsewhere && !isHttps && ctx.get('origin') !== '')
    throw new GatewayError('permission_error', PLAIN_WORDS)
  const parts = [
    `${COOKIE}=${token ?? ''}`,
    'Path=/',
    'HttpOnly',
    'SameSite=Strict',
    `Expires=${new Date(expiresAtMs).toUTCString()}`,
    ...(isHttps || isElsewhere ? ['Secure'] : []),
  ]
  ctx.append('set-cookie', parts.join('; '))
}

const PLAIN_WORDS =
  'Over plain http a session could be read on the way: open the dashboard over https, or through a tunnel to this machine (`ssh -L 3099:127.0.0.1:3099 …`).'
