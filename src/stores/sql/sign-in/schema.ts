/** The tables of sign-ins, sessions and command lines. */
export interface SignInTables {
  sign_in_attempt: SignInAttemptTable
  sign_in_identity: SignInIdentityTable
  user_session: UserSessionTable
  device_grant: DeviceGrantTable
  operator_link: OperatorLinkTable
}

/** A sign-in between its start and the identity provider's answer. */
export interface SignInAttemptTable {
  state_hash: string
  browser_hash: string
  nonce: string
  verifier: string
  return_path: string
  expires_at_ms: number
}

/** The latest sign-in of an account: what its groups give to all of its sessions. */
export interface SignInIdentityTable {
  account_id: string
  issuer: string
  role: 'viewer' | 'operator' | null
  signed_in_at_ms: number
}

/** A session; of its secret only the hash. */
export interface UserSessionTable {
  id: string
  hash: string
  account_id: string
  kind: 'browser' | 'command'
  client: string
  /** For the provider's logout; deleted with the session's end. */
  id_token: string | null
  /** Key of a client that sends requests to models; it ends with the session. */
  key_id: string | null
  created_at_ms: number
  last_seen_at_ms: number
  idle_ms: number
  expires_at_ms: number
  revoked_at_ms: number | null
}

/** A command line's request for a session. */
export interface DeviceGrantTable {
  device_hash: string
  user_hash: string
  client: string
  address: string
  state: 'pending' | 'approved' | 'denied'
  account_id: string | null
  created_at_ms: number
  polled_at_ms: number
  expires_at_ms: number
}

/** A one-time link that makes the first operator. */
export interface OperatorLinkTable {
  hash: string
  browser_hash: string | null
  expires_at_ms: number
}
