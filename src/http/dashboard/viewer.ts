import type { Context } from 'koa'
import type { Session } from '../../accounts/sessions/session.ts'
import { GatewayError } from '../../core/errors.ts'
import type { KeysInReach, Role } from '../../core/ports/people.ts'
import { scopeOfKey } from '../../core/request/caller.ts'
import { EVERYBODY, type Scopes } from '../../core/telemetry/telemetry.ts'
import { RoleRefused } from '../roles.ts'
import type { ReadSession } from '../session.ts'
import { assertLoopback, assertOwnPage } from './own-page.ts'

/** A user of the dashboard, and the scopes that they may see. */
export interface Viewer {
  /** `undefined` in local mode, which has no users. */
  readonly userId: string | undefined
  readonly role: Role
  /** Operators see the requests of all users, and the gateway's settings. */
  readonly isOperator: boolean
  /** Ids of the teams that the viewer leads. */
  readonly teamIds: readonly string[]
  /** False for the role `viewer`, which sees all figures. */
  readonly mayChange: boolean
  /** Own keys and those of the teams that the viewer leads; all for operators and the role `viewer`. */
  readonly scopes: Scopes
  /** When the session ends, in milliseconds since 1970; `undefined`: never. */
  readonly expiresAtMs: number | undefined
  /** Scopes whose bodies are shown: in cloud mode those of the viewer's own keys, for the role `viewer` none. */
  readonly ownScopes: Scopes
}

/**
 * Returns the viewer of a request. Throws `permission_error`, `authentication_error`, `rate_limit_error`,
 * `service_unavailable`.
 */
export type ReadViewer = (ctx: Context) => Promise<Viewer>

/** Throws `permission_error` unless the viewer is an operator; `what` names the requested data. */
export function assertOperator({ isOperator, userId }: Viewer, what: string): void {
  if (!isOperator) throw refused(userId, `${what} are shown to operators of this gateway.`)
}

/** Throws `permission_error` unless the viewer of this moment has the role and sees the scopes of one before. */
export function assertSeesAsBefore(now: Viewer, before: Viewer): void {
  if (now.role === before.role && contains(now.scopes, before.scopes)) return
  throw new GatewayError('permission_error', 'Your role or what you may see has changed. Ask for the file again.')
}

function contains(scopes: Scopes, others: Scopes): boolean {
  if (scopes === EVERYBODY) return true
  if (others === EVERYBODY) return false
  const known = new Set([scopes].flat())
  return [others].flat().every((other) => known.has(other))
}

/** Owner of something that may be managed: a team, a person, or a person's part in a team. */
export interface Managed {
  readonly teamId?: string | null | undefined
  readonly userId?: string | null | undefined
}

/**
 * Throws `permission_error` unless the viewer manages these: an operator manages everything, a lead the teams that the
 * viewer leads, and each user what is theirs. The refusal is recorded in the audit log.
 */
export function assertMayManage(viewer: Viewer, { teamId, userId }: Managed): void {
  if (viewer.isOperator) return
  const isTheirs = userId !== undefined && userId !== null && userId === viewer.userId
  const isLed = teamId !== undefined && teamId !== null && viewer.teamIds.includes(teamId)
  if (viewer.mayChange && (isTheirs || isLed)) return
  throw refused(viewer.userId, 'This is not yours to manage: ask an operator of this gateway, or the lead of the team.')
}

/** Creates the refusal of a role; local mode has no users, and no roles that could be refused. */
function refused(userId: string | undefined, message: string): GatewayError {
  return userId === undefined ? new GatewayError('permission_error', message) : new RoleRefused(userId, message)
}

/** Returns the viewer's account. Throws `unavailable_in_mode` with the given message in local mode. */
export function userOf({ userId }: Viewer, words: string): string {
  if (userId === undefined) throw new GatewayError('unavailable_in_mode', words)
  return userId
}

/** Input of `createLocalViewer`. */
export interface ViewerOptions {
  readonly access: 'loopback' | 'open'
  /** Host names of the gateway. */
  readonly knownHosts: ReadonlySet<string>
}

/** Creates the viewer of local mode, who sees everything. */
export function createLocalViewer({ access, knownHosts }: ViewerOptions): ReadViewer {
  return async (ctx) => {
    if (access === 'loopback') assertLoopback(ctx)
    assertOwnPage(ctx, knownHosts)
    return LOCAL_VIEWER
  }
}

const LOCAL_VIEWER: Viewer = {
  userId: undefined,
  role: 'operator',
  isOperator: true,
  teamIds: [],
  mayChange: true,
  expiresAtMs: undefined,
  scopes: EVERYBODY,
  ownScopes: EVERYBODY,
}

/** Input of `createCloudViewer`. */
export interface CloudViewerOptions {
  readonly session: ReadSession
  /** Returns the ids of the user's keys and of those of the teams, including revoked ones. */
  readonly keysOf: (userId: string, teamIds: readonly string[]) => Promise<KeysInReach>
}

/** Creates the viewer of cloud mode: the user of the session, with the role of the moment. */
export function createCloudViewer({ session, keysOf }: CloudViewerOptions): ReadViewer {
  return async (ctx) => {
    const { userId, role, teamIds, claims } = await session(ctx)
    const { own, led } = await keysOf(userId, teamIds)
    const ownScopes = own.map(scopeOfKey)
    const seesAll = role === 'operator' || role === 'viewer'
    return {
      userId,
      role,
      isOperator: role === 'operator',
      teamIds,
      mayChange: role !== 'viewer',
      expiresAtMs: Number(claims.exp) * 1000,
      scopes: seesAll ? EVERYBODY : [...new Set([...ownScopes, ...led.map(scopeOfKey)])],
      ownScopes: role === 'viewer' ? [] : ownScopes,
    }
  }
}

/**
 * Creates the test for an operator's claim: `name=value` equals the claim or is in its list; `name` alone requires
 * `true`.
 */
export function operatorClaim(text: string | undefined): (claims: Session['claims']) => boolean {
  if (text === undefined) return () => false
  const at = text.indexOf('=')
  if (at < 0) return (claims) => claims[text] === true
  const [name, value] = [text.slice(0, at), text.slice(at + 1)]
  return (claims) => [claims[name]].flat().includes(value)
}
