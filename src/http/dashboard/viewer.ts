import type { Context } from 'koa'
import type { Session } from '../../accounts/sessions/session.ts'
import { GatewayError } from '../../core/errors.ts'
import { EVERYBODY, type Scopes } from '../../core/telemetry/telemetry.ts'
import type { ReadSession } from '../session.ts'
import { assertLoopback, assertOwnPage } from './own-page.ts'

/** A user of the dashboard, and the scopes that they may see. */
export interface Viewer {
  /** `undefined` in local mode, which has no users. */
  readonly userId: string | undefined
  /** Operators see the requests of all users, and the gateway's settings. */
  readonly isOperator: boolean
  readonly scopes: Scopes
  /** When the session ends, in milliseconds since 1970; `undefined`: never. */
  readonly expiresAtMs: number | undefined
  /** Scopes whose bodies are shown: an operator of cloud mode sees all figures, but only their own bodies. */
  readonly ownScopes: Scopes
}

/**
 * Returns the viewer of a request. Throws `permission_error`, `authentication_error`, `rate_limit_error`,
 * `service_unavailable`.
 */
export type ReadViewer = (ctx: Context) => Promise<Viewer>

/** Throws `permission_error` unless the viewer is an operator; `what` names the requested data. */
export function assertOperator({ isOperator }: Viewer, what: string): void {
  if (!isOperator) throw new GatewayError('permission_error', `${what} are shown to operators of this gateway.`)
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
    return { userId: undefined, isOperator: true, expiresAtMs: undefined, scopes: EVERYBODY, ownScopes: EVERYBODY }
  }
}

/** Input of `createCloudViewer`. */
export interface CloudViewerOptions {
  readonly session: ReadSession
  /** Returns the scopes of a user's keys, including revoked ones. */
  readonly scopesOf: (userId: string) => Promise<readonly string[]>
  readonly isOperator: (claims: Session['claims']) => boolean
}

/** Creates the viewer of cloud mode, who sees the requests of their own keys; an operator sees all. */
export function createCloudViewer({ session, scopesOf, isOperator }: CloudViewerOptions): ReadViewer {
  return async (ctx) => {
    const { userId, claims } = await session(ctx)
    const ownScopes = await scopesOf(userId)
    const sees = isOperator(claims)
    const expiresAtMs = Number(claims.exp) * 1000
    return { userId, isOperator: sees, expiresAtMs, scopes: sees ? EVERYBODY : ownScopes, ownScopes }
  }
}

/**
 * Creates the test for an operator's claim: `name=value` equals the claim or is in its list; `name` alone requires
 * `true`.
 */
export function operatorClaim(text: string | undefined): CloudViewerOptions['isOperator'] {
  if (text === undefined) return () => false
  const at = text.indexOf('=')
  if (at < 0) return (claims) => claims[text] === true
  const [name, value] = [text.slice(0, at), text.slice(at + 1)]
  return (claims) => [claims[name]].flat().includes(value)
}
