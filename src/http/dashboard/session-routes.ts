import type { Middleware } from 'koa'
import type { VerifySession } from '../../accounts/sessions/session.ts'
import { GatewayError } from '../../core/errors.ts'
import { countFailedAuthentication } from '../authentication.ts'
import { bearerOf } from '../credential.ts'
import type { RequestLimits } from '../rate-limit.ts'
import type { RequestState } from '../request-context.ts'
import { isOwnPage } from './own-page.ts'
import { LONGEST_COOKIE_TOKEN, setDashboardToken } from './session-cookie.ts'
import type { ReadViewer } from './viewer.ts'

/** What the page is told before it asks for anything else. */
export interface DashboardFacts {
  readonly mode: 'local' | 'cloud'
  readonly version: string
  /** The operator's pipeline, printed. */
  readonly pipeline: () => string
  readonly plugins: () => readonly string[]
  /** Whether agents can pay here; `unpayable`: the route is on, and nothing could be paid. */
  readonly agents: 'off' | 'unpayable' | 'on'
  /** Which of its pages have something to show. */
  readonly has: { readonly telemetry: boolean; readonly receipts: boolean; readonly capture: boolean }
}

/** `GET /dashboard/api/session`: who looks, and what there is. In cloud mode 401 until somebody has signed in. */
export function whoRoute({ viewer, facts }: { viewer: ReadViewer; facts: DashboardFacts }): Middleware<RequestState> {
  return async function who(ctx) {
    const { userId, isOperator } = await viewer(ctx)
    const { pipeline, plugins, ...rest } = facts
    ctx.body = { ...rest, pipeline: pipeline(), plugins: plugins(), userId: userId ?? null, isOperator }
  }
}

/** `POST /dashboard/api/session` with a session token in `authorization`: keeps it for this browser. */
export function signInRoute({
  verify,
  limits,
}: {
  verify: VerifySession
  limits: RequestLimits
}): Middleware<RequestState> {
  return async function signInHere(ctx) {
    if (!isOwnPage(ctx)) throw new GatewayError('permission_error', 'Only the dashboard’s own page can sign in here.')
    const token = bearerOf(ctx.req.headers)
    if (token === undefined)
      throw new GatewayError('authentication_error', 'Expected a session token in `Authorization: Bearer <token>`.')
    if (token.length > LONGEST_COOKIE_TOKEN)
      throw new GatewayError(
        'invalid_request',
        `The session token has ${token.length} characters; a browser keeps ${LONGEST_COOKIE_TOKEN}.`,
      )
    try {
      const { claims } = await verify(token)
      setDashboardToken(ctx, token, Number(claims.exp) * 1000)
    } catch (error) {
      await countFailedAuthentication(limits.failures, ctx.req, error)
      throw error
    }
    ctx.status = 204
    ctx.body = null
  }
}

/** `DELETE /dashboard/api/session`: forgets it. */
export const signOut: Middleware<RequestState> = function signOut(ctx) {
  if (!isOwnPage(ctx)) throw new GatewayError('permission_error', 'Only the dashboard’s own page can sign out here.')
  setDashboardToken(ctx, undefined)
  ctx.status = 204
  ctx.body = null
}
