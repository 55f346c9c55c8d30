/** A user who is there: a verified session token. */
export interface Session {
  /** The account. */
  readonly userId: string
  /** All that the token says. */
  readonly claims: Readonly<Record<string, unknown>>
}

/** Verifies a session token. Throws `authentication_error`, or `service_unavailable` when its issuer’s keys cannot be had. */
export type VerifySession = (token: string) => Promise<Session>
