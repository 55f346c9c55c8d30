import type { Context } from 'koa'
import { SUSPENDED } from '../accounts/keys/authenticate.ts'
import { looksLikeKey } from '../accounts/keys/key-format.ts'
import type { Session, VerifySession } from '../accounts/sessions/session.ts'
import { GatewayError } from '../core/errors.ts'
import type { AccountStanding, Role } from '../core/ports/people.ts'
import { roleOf } from '../core/role-of.ts'
import { countFailedAuthentication } from './authentication.ts'
import type { BodyIntake } from './body-intake.ts'
import { awaitControlBody } from './control-body.ts'
import { bearerOf } from './credential.ts'
import { dashboardTokenOf } from './dashboard/session-cookie.ts'
import { limitRequests, type RequestLimits } from './rate-limit.ts'
import { RoleRefused } from './roles.ts'

/** Requests per minute of one user to the routes of keys and billing, over all sessions. */
const REQUESTS_PER_MINUTE = 600

/** Dependencies of the session reader. */
export interface SessionReaderOptions {
  readonly verify: VerifySession
  readonly limits: RequestLimits
  readonly intake: BodyIntake
  /** Returns the user's account; creates it at the first sign-in. Throws `service_unavailable`. */
  readonly openAccount: (userId: string) => Promise<AccountStanding>
  /** Returns whether these claims make an operator. */
  readonly isOperator: (claims: Session['claims']) => boolean
}

/** A signed-in user with the role of the moment. */
export interface SignedIn extends Session {
  readonly role: Role
  /** Ids of the teams that the user leads. */
  readonly teamIds: readonly string[]
}

/**
 * Returns the user of a request, from its session token; of a change once its body has arrived, so that a body that is sent
 * slowly changes nothing by a role or session that has ended meanwhile. Throws `authentication_error`, `permission_error`
 * for a suspended account and for a change by a viewer, `rate_limit_error`, `request_too_large`, `service_unavailable`.
 */
export type ReadSession = (ctx: Context) => Promise<SignedIn>

/** Methods that change nothing. */
const READING = new Set(['GET', 'HEAD'])
/** Routes of the user's own sessions, which a viewer may begin and end. */
const OWN_MATTERS = /^\/(?:v1\/sessions\/|dashboard\/api\/device(?:\/|$))/

/** Creates the reader of sessions. */
export function createSessionReader(options: SessionReaderOptions): ReadSession {
  const { verify, limits, intake, openAccount, isOperator } = options
  // The operator's limit is for model requests, and may be a few per minute.
  const sessionLimits = { ...limits, requestsPerMinute: REQUESTS_PER_MINUTE }
  // A request whose reply lasts reads its session again and again, and is still one request.
  const counted = new WeakSet<Context>()
  return async function session(ctx) {
    let session = await identifyUser(ctx, { verify, limits })
    if (!counted.has(ctx)) {
      counted.add(ctx)
      const standing = await limitRequests(sessionLimits, { scope: `session:${session.userId}` })
      ctx.set({ 'cache-control': 'no-store', ...standing })
    }
    const isChange = !READING.has(ctx.method)
    if (isChange && (await awaitControlBody(ctx.req, { intake, sender: session.userId })))
      session = await identifyUser(ctx, { verify, limits })
    const { suspendedAtMs, ...facts } = await openAccount(session.userId)
    if (suspendedAtMs !== null) throw new GatewayError('permission_error', SUSPENDED)
    const { groupRole, claims } = session
    const role = roleOf({ ...facts, groupRole, isOperator: isOperator(claims) })
    if (role === 'viewer' && isChange && !OWN_MATTERS.test(ctx.path))
      throw new RoleRefused(session.userId, 'Your role is `viewer`, which changes nothing. Ask an operator.')
    return { ...session, role, teamIds: facts.leads }
  }
}

async function identifyUser(
  ctx: Context,
  { verify, limits }: Pick<SessionReaderOptions, 'verify' | 'limits'>,
): Promise<Session> {
  try {
    const token = bearerOf(ctx.req.headers) ?? dashboardTokenOf(ctx)
    if (token === undefined)
      throw new GatewayError('authentication_error', 'Expected a session token in `Authorization: Bearer <token>`.')
    if (looksLikeKey(token))
      throw new GatewayError('authentication_error', 'Expected a session token; API keys are not accepted here.')
    return await verify(token)
  } catch (error) {
    await countFailedAuthentication(limits.failures, ctx.req, error)
    throw error
  }
}
