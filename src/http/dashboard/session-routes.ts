import type { Middleware } from 'koa'
import type { VerifySession } from '../../accounts/sessions/session.ts'
import { looksLikeSession } from '../../accounts/sign-in/secrets.ts'
import { GatewayError } from '../../core/errors.ts'
import { nameIn } from '../../core/ports/names.ts'
import { countFailedAuthentication } from '../authentication.ts'
import { bearerOf } from '../credential.ts'
import type { RequestLimits } from '../rate-limit.ts'
import type { RequestState } from '../request-context.ts'
import { publicUrlOf, type SignInParts } from '../sign-in/options.ts'
import { type NameOptions, namesFor } from './names.ts'
import { isOwnPage } from './own-page.ts'
import { dashboardTokenOf, LONGEST_COOKIE_TOKEN, setDashboardToken } from './session-cookie.ts'
import type { ReadViewer } from './viewer.ts'

/** Facts that the page loads first. */
export interface DashboardFacts {
  readonly mode: 'local' | 'cloud'
  readonly version: string
  /** Returns the operator's pipeline string. */
  readonly pipeline: () => string
  readonly plugins: () => readonly string[]
  /** Returns false while no provider but the demo has a credential. */
  readonly hasProvider: () => boolean
  /** State of agent payments; `unpayable`: the route is on, but payments are not configured; `sandbox`: no money moves. */
  readonly agents: 'off' | 'unpayable' | 'on' | 'sandbox'
  /** Features that have data to show. */
  readonly has: {
    readonly telemetry: boolean
    readonly receipts: boolean
    readonly capture: boolean
    /** Sessions of the gateway's own. */
    readonly sessions: boolean
  }
}

/** `GET /dashboard/api/session`: returns the viewer and the facts. In cloud mode 401 until a user has signed in. */
export function viewerRoute({
  viewer,
  facts,
  names,
}: NameOptions & {
  viewer: ReadViewer
  facts: DashboardFacts
}): Middleware<RequestState> {
  return async function showViewer(ctx) {
    const seer = await viewer(ctx)
    const { userId, role, isOperator, teamIds, mayChange } = seer
    const found = await namesFor(seer, { person: [userId] }, names)
    const { pipeline, plugins, hasProvider, ...rest } = facts
    ctx.body = {
      ...rest,
      pipeline: pipeline(),
      plugins: plugins(),
      hasProvider: hasProvider(),
      userId: userId ?? null,
      userName: nameIn(found, 'person', userId ?? null),
      role,
      isOperator,
      teamIds,
      mayChange,
    }
  }
}

/** `POST /dashboard/api/session` with a session token in `authorization`: signs this browser in. */
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

/**
 * `DELETE /dashboard/api/session`: signs this browser out. A session of the gateway's own ends on all processes; the reply
 * has the identity provider's logout address, if there is one.
 */
export function signOutRoute(signIn: SignInParts | undefined): Middleware<RequestState> {
  return async function signOut(ctx) {
    if (!isOwnPage(ctx)) throw new GatewayError('permission_error', 'Only the dashboard’s own page can sign out here.')
    const token = dashboardTokenOf(ctx)
    const isOwn = token !== undefined && looksLikeSession(token)
    const url = isOwn ? await signIn?.signIn.end(token, `${publicUrlOf(signIn, ctx)}/`) : undefined
    setDashboardToken(ctx, undefined)
    ctx.status = url === undefined ? 204 : 200
    ctx.body = url === undefined ? null : { url: url.href }
  }
}

/** `GET /dashboard/api/sign-in`: the ways to sign in, for the page that has no session yet. */
export function waysRoute(ways: SignInWays): Middleware<RequestState> {
  return function showWays(ctx) {
    ctx.body = { name: ways.signIn?.name ?? null, tokens: ways.takesTokens }
  }
}

/** Ways to sign in. */
export interface SignInWays {
  readonly signIn: SignInParts | undefined
  /** Session tokens of an issuer are accepted. */
  readonly takesTokens: boolean
}
