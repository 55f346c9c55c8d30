import type { AuditNote } from './audit.ts'

/** Role that groups of the identity provider give. */
export type GroupRole = 'viewer' | 'operator'

/** Kind of a session: a browser's, or a command line's. */
export type SessionKind = 'browser' | 'command'

/** A sign-in that has begun in a browser and awaits the identity provider's answer. */
export interface SignInAttempt {
  /** SHA-256 of the `state`. */
  readonly stateHash: string
  /** SHA-256 of the secret in the browser's cookie. */
  readonly browserHash: string
  readonly nonce: string
  /** Code verifier of PKCE. */
  readonly verifier: string
  /** Local path to return to. */
  readonly returnPath: string
}

/** Lifetimes of a session, in milliseconds. */
export interface SessionBounds {
  readonly lifetimeMs: number
  readonly idleMs: number
}

/** A session to store; of its secret only the hash. */
export interface NewSession extends SessionBounds {
  readonly id: string
  readonly hash: string
  /** Name of the browser or command, as it introduced itself. */
  readonly client: string
  /** Token by which the identity provider recognizes the session at its end; `null` without one. */
  readonly idToken: string | null
}

/** A key of a session, by which its client sends requests to models: of its secret only the hash. */
export interface SessionKey {
  readonly id: string
  readonly hash: string
  readonly prefix: string
  readonly lifetimeMs: number
  readonly auditId: string
}

/** A membership that groups give. */
export interface GroupTeam {
  readonly team: string
  /** Id of the team if it has to be created. */
  readonly newId: string
  readonly isLead: boolean
}

/** A person as the identity provider describes it, with a session to open. */
export interface SignedIn {
  readonly accountId: string
  readonly issuer: string
  readonly name: string | null
  /** Verified address. */
  readonly email: string | null
  readonly role: GroupRole | null
  readonly teams: readonly GroupTeam[]
  readonly session: NewSession
  /** Hash of the session that the browser had before, which ends. */
  readonly previousHash: string | null
  /** SHA-256 of the secret that binds a first operator's link to this browser. */
  readonly linkHash: string | null
  readonly audit: AuditNote
}

/** Result of a sign-in. */
export type SignInOutcome = 'signed-in' | 'first-operator' | 'suspended'

/** A session in force. */
export interface SessionInForce {
  readonly id: string
  readonly accountId: string
  readonly kind: SessionKind
  readonly role: GroupRole | null
  /** End by its lifetime, in milliseconds since 1970. */
  readonly expiresAtMs: number
}

/** A session as it is listed. */
export interface ListedSession {
  readonly id: string
  readonly kind: SessionKind
  readonly client: string
  readonly createdAtMs: number
  readonly lastSeenAtMs: number
  readonly expiresAtMs: number
}

/** A command line's request for a session, which a signed-in user approves (RFC 8628). */
export interface NewDevice {
  /** SHA-256 of the device code. */
  readonly deviceHash: string
  /** SHA-256 of the user code. */
  readonly userHash: string
  readonly client: string
  /** Address that asks. */
  readonly address: string
  readonly ttlMs: number
}

/** A pending request as its approver sees it. */
export interface PendingDevice {
  readonly client: string
  readonly address: string
  readonly createdAtMs: number
}

/** State of a request when its command line asks for the session; `unknown`: expired, used, or never begun. */
export type DeviceOutcome =
  | { readonly kind: 'pending' | 'slow' | 'denied' | 'unknown' | 'suspended' }
  | { readonly kind: 'approved'; readonly accountId: string }

/** Stores sign-ins and sessions. Every method rejects with `service_unavailable` while the database cannot be reached. */
export interface SignInStore {
  /** Stores an attempt; false when too many are pending. */
  begin(attempt: SignInAttempt): Promise<boolean>
  /** Returns and deletes an attempt of this browser; `undefined` for an unknown, expired or foreign one. */
  take(hashes: { stateHash: string; browserHash: string }): Promise<SignInAttempt | undefined>
  /** Stores the person with its groups and opens the session. */
  complete(person: SignedIn): Promise<SignInOutcome>
  /** Returns the session with this hash, and records its use; `undefined` for one that has ended. */
  use(hash: string): Promise<SessionInForce | undefined>
  list(accountId: string): Promise<ListedSession[]>
  /** Ends a session of an account by its id. Resolves with true if it was in force. */
  revoke(session: { id: string; accountId: string; audit: AuditNote }): Promise<boolean>
  /** Ends all sessions of an account; resolves with their number. */
  revokeAll(account: { accountId: string; audit: AuditNote }): Promise<number>
  /** Ends the session with this hash; resolves with its ID token, if it had one. */
  end(session: { hash: string; auditId: string }): Promise<string | null>
  /** Stores a request of a command line; false when too many are pending. */
  beginDevice(device: NewDevice): Promise<boolean>
  findDevice(userHash: string): Promise<PendingDevice | undefined>
  /** Approves or denies a pending request. Resolves with false when there is none. */
  decideDevice(decision: {
    userHash: string
    accountId: string
    isApproved: boolean
    audit: AuditNote
  }): Promise<boolean>
  /** Opens the session of an approved request, once. */
  redeemDevice(device: {
    deviceHash: string
    session: NewSession
    key: SessionKey | null
    auditId: string
  }): Promise<DeviceOutcome>
  /** Gives the key of a session a new secret; resolves with its time in milliseconds, `undefined` for a session that has ended. */
  refreshKey(refresh: { sessionHash: string; key: SessionKey }): Promise<number | undefined>
  /** Stores the hash of a first operator's link in place of earlier ones; false when an operator exists. */
  offerFirstOperator(link: { hash: string; ttlMs: number }): Promise<boolean>
  /** Binds a link to one browser; false when it is unknown, expired, used or bound to another one. */
  bindFirstOperator(link: { hash: string; browserHash: string }): Promise<boolean>
}
