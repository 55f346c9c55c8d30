import type { Context } from 'koa'
import type { Session } from '../../accounts/sessions/session.ts'
import { GatewayError } from '../../core/errors.ts'
import { EVERYBODY, type Scopes } from '../../core/telemetry/telemetry.ts'
import type { ReadSession } from '../session.ts'
import { assertLoopback, assertOwnPage } from './own-page.ts'

/** Who looks at the dashboard, and at what. */
export interface Viewer {
  /** `undefined` in local mode, which has no users. */
  readonly userId: string | undefined
  /** Sees everybody's requests, and the gateway's settings. */
  readonly isOperator: boolean
  readonly scopes: Scopes
  /** When the session ends, in milliseconds since 1970; `undefined`: never. */
  readonly expiresAtMs: number | undefined
  /** Whose bodies are shown: an operator of cloud mode sees figures of all and bodies of their own. */
  readonly ownScopes: Scopes
}

/** Finds out who looks. Throws `permission_error`, `authentication_error`, `rate_limit_error`, `service_unavailable`. */
export type ReadViewer = (ctx: Context) => Promise<Viewer>

/** Throws `permission_error` for who does not operate this gateway; `what` is what they asked for. */
export function assertOperator({ isOperator }: Viewer, what: string): void {
  if (!isOperator) throw new GatewayError('permission_error', `${what} are shown to operators of this gateway.`)
}

/** The account of whoever looks. Throws `unavailable_in_mode` with these words where there are none. */
export function userOf({ userId }: Viewer, words: string): string {
  if (userId === undefined) throw new GatewayError('unavailable_in_mode', words)
  return userId
}

/** Where a dashboard is shown. */
export interface ViewerOptions {
  readonly access: 'loopback' | 'open'
  /** Names under which the gateway is reached. */
  readonly knownHosts: ReadonlySet<string>
}

/** Local mode: whoever reaches it sees everything. */
export function createLocalViewer({ access, knownHosts }: ViewerOptions): ReadViewer {
  return async (ctx) => {
    if (access === 'loopback') assertLoopback(ctx)
    assertOwnPage(ctx, knownHosts)
    return { userId: undefined, isOperator: true, expiresAtMs: undefined, scopes: EVERYBODY, ownScopes: EVERYBODY }
  }
}

/** What cloud mode looks users up with. */
export interface CloudViewerOptions {
  readonly session: ReadSession
  /** The scopes of a user's keys, of the revoked ones too. */
  readonly scopesOf: (userId: string) => Promise<readonly string[]>
  readonly isOperator: (claims: Session['claims']) => boolean
}

/** Cloud mode: users see what their keys have done. */
export function createCloudViewer({ session, scopesOf, isOperator }: CloudViewerOptions): ReadViewer {
  return async (ctx) => {
    const { userId, claims } = await session(ctx)
    const ownScopes = await scopesOf(userId)
    const sees = isOperator(claims)
    const expiresAtMs = Number(claims.exp) * 1000
    return { userId, isOperator: sees, expiresAtMs, scopes: sees ? EVERYBODY : ownScopes, ownScopes }
  }
}

/** Whether claims have what makes an operator: `name=value` is or is among the claim, a name alone is `true`. */
export function operatorClaim(text: string | undefined): CloudViewerOptions['isOperator'] {
  if (text === undefined) return () => false
  const at = text.indexOf('=')
  if (at < 0) return (claims) => claims[text] === true
  const [name, value] = [text.slice(0, at), text.slice(at + 1)]
  return (claims) => [claims[name]].flat().includes(value)
}
