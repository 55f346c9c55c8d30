import type { Context } from 'koa'
import { GatewayError } from '../../core/errors.ts'
import { cookieOf, setCookie } from '../cookies.ts'
import { isOwnPage, isUnderLoopbackName } from './own-page.ts'

/**
 * DESIGN — the session of a browser
 *
 * The dashboard sends a session token once, or the user signs in at the identity provider, and the browser stores the
 * session where no script can read it: in a cookie that is HttpOnly and, unless the page has a loopback host, Secure and
 * bound to this host. A page over plain http under another name cannot sign in, since its token could be read in transit.
 * Browsers attach cookies to any request, so the cookie counts only for requests of the dashboard's own pages, recognized
 * by their origin headers and by a header that another site cannot send without a preflight.
 */
const COOKIE = 'turnpike_session'
/** Header of all calls of the dashboard's pages, except event streams, which cannot set headers and only read. */
const MARK = 'x-turnpike-dashboard'
/** Longest token that fits into a cookie; browsers silently drop longer ones. */
export const LONGEST_COOKIE_TOKEN = 3800
const SAFE_METHODS = new Set(['GET', 'HEAD'])

/** Returns the token in the cookie, for a request of the dashboard's own page. */
export function dashboardTokenOf(ctx: Context): string | undefined {
  const isMarked = SAFE_METHODS.has(ctx.method) || ctx.get(MARK) !== ''
  return isMarked && isOwnPage(ctx) ? storedTokenOf(ctx) : undefined
}

/** Returns the token in the cookie, for any request: to end it, not to act for it. */
export function storedTokenOf(ctx: Context): string | undefined {
  return cookieOf(ctx, COOKIE)
}

/** Stores a session of the gateway's own; the answer of the identity provider, which sets it, is no page of this site. */
export function setOwnSession(
  ctx: Context,
  token: string,
  { isSecure, expiresAtMs }: { isSecure: boolean; expiresAtMs: number },
): void {
  setCookie(ctx, COOKIE, { value: token, expiresAtMs, sameSite: 'Lax', isSecure })
}

/**
 * Stores a token until `expiresAtMs`; deletes it for `undefined`. Throws `permission_error` for a page that another machine has
 * loaded over plain http.
 */
export function setDashboardToken(ctx: Context, token: string | undefined, expiresAtMs = 0): void {
  const isHttps = ctx.secure || ctx.get('origin').startsWith('https:')
  const isElsewhere = !isUnderLoopbackName(ctx)
  if (token !== undefined && isElsewhere && !isHttps && ctx.get('origin') !== '')
    throw new GatewayError('permission_error', PLAIN_WORDS)
  setCookie(ctx, COOKIE, { value: token, expiresAtMs, sameSite: 'Strict', isSecure: isHttps || isElsewhere })
}

const PLAIN_WORDS =
  'Over plain http a session could be read on the way: open the dashboard over https, or through a tunnel to this machine (`ssh -L 3099:127.0.0.1:3099 …`).'
