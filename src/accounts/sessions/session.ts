import type { GroupRole } from '../../core/ports/sign-in.ts'

/** A signed-in user: a verified session token, or a session of the gateway’s own. */
export interface Session {
  /** The account. */
  readonly userId: string
  /** All claims of the token; of a session of the gateway’s own `sub` and `exp`. */
  readonly claims: Readonly<Record<string, unknown>>
  /** Id of a session of the gateway’s own. */
  readonly id?: string
  /** Role that the identity provider’s groups give. */
  readonly groupRole?: GroupRole | null
}

/**
 * Verifies a session token. Throws `authentication_error`, or `service_unavailable` when its issuer’s keys or the
 * database cannot be reached.
 */
export type VerifySession = (token: string) => Promise<Session>
