/** A signed-in user: a verified session token. */
export interface Session {
  /** The account. */
  readonly userId: string
  /** All claims of the token. */
  readonly claims: Readonly<Record<string, unknown>>
}

/** Verifies a session token. Throws `authentication_error`, or `service_unavailable` when its issuer’s keys cannot be fetched. */
export type VerifySession = (token: string) => Promise<Session>
