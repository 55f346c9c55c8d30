import type { Context, Middleware } from 'koa'
import { SignInError } from '../../accounts/sign-in/provider.ts'
import { looksLikeSession } from '../../accounts/sign-in/secrets.ts'
import { GatewayError } from '../../core/errors.ts'
import { cookieOf, setCookie } from '../cookies.ts'
import { setOwnSession, storedTokenOf } from '../dashboard/session-cookie.ts'
import type { RequestState } from '../request-context.ts'
import { clientName, countAddress, publicUrlOf, type SignInParts } from './options.ts'
import { returnPathOf } from './return-path.ts'

/** Cookie that binds an answer of the identity provider to the browser that began. */
const ATTEMPT = 'turnpike_sign_in'
const ATTEMPT_MS = 10 * 60_000
/** Cookie that binds a first operator's link to a browser. */
export const OPERATOR_LINK = 'turnpike_operator_link'
/** Sign-ins per minute of one address: an office behind one address signs in at nine. */
const MOST_STARTS = 120
export const CALLBACK_PATH = '/sign-in/callback'

/** `GET /sign-in?return=/…`: sends the browser to the identity provider. */
export function startRoute(parts: SignInParts): Middleware<RequestState> {
  return async function startSignIn(ctx) {
    await countAddress(parts, ctx.req, { what: 'start', most: MOST_STARTS })
    const publicUrl = publicUrlOf(parts, ctx)
    const returnPath = returnPathOf(ctx.query.return)
    // The answer arrives at the public address, where the cookie has to be.
    if (ctx.host !== new URL(publicUrl).host && ctx.query.here === undefined)
      return leaveFor(ctx, `${publicUrl}/sign-in?here=1&return=${encodeURIComponent(returnPath)}`)
    try {
      const { url, browserSecret } = await parts.signIn.begin(returnPath, publicUrl + CALLBACK_PATH)
      const isSecure = publicUrl.startsWith('https:')
      const expiresAtMs = parts.clock.nowMs() + ATTEMPT_MS
      setCookie(ctx, ATTEMPT, { value: browserSecret, expiresAtMs, sameSite: 'Lax', isSecure })
      leaveFor(ctx, url.href)
    } catch (error) {
      leaveFor(ctx, failurePath(error))
    }
  }
}

/** `GET /sign-in/callback`: takes the identity provider's answer and opens a session. */
export function callbackRoute(parts: SignInParts): Middleware<RequestState> {
  return async function takeAnswer(ctx) {
    const publicUrl = publicUrlOf(parts, ctx)
    const isSecure = publicUrl.startsWith('https:')
    const previous = storedTokenOf(ctx)
    try {
      const opened = await parts.signIn.complete({
        url: new URL(publicUrl + CALLBACK_PATH + ctx.search),
        browserSecret: cookieOf(ctx, ATTEMPT),
        linkSecret: cookieOf(ctx, OPERATOR_LINK),
        previousToken: previous !== undefined && looksLikeSession(previous) ? previous : undefined,
        client: clientName(ctx.get('user-agent')),
      })
      setCookie(ctx, ATTEMPT, { value: undefined, expiresAtMs: 0, sameSite: 'Lax', isSecure })
      if (opened.outcome === 'suspended') return leaveFor(ctx, '/#/sign-in/suspended')
      setOwnSession(ctx, opened.token, { isSecure, expiresAtMs: parts.clock.nowMs() + opened.lifetimeMs })
      leaveFor(ctx, opened.returnPath)
    } catch (error) {
      leaveFor(ctx, failurePath(error))
    }
  }
}

/** Returns the page that explains a failure, in words of the gateway’s own. Throws unexpected errors again. */
function failurePath(error: unknown): string {
  if (error instanceof SignInError) return `/#/sign-in/${error.reason}`
  if (!(error instanceof GatewayError)) throw error
  if (error.code === 'service_unavailable') return '/#/sign-in/unavailable'
  if (error.code === 'permission_error' || error.code === 'authentication_error') return '/#/sign-in/refused'
  throw error
}

function leaveFor(ctx: Context, location: string): void {
  ctx.set({ location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
  ctx.status = 303
  ctx.body = ''
}
