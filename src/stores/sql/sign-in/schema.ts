import { texts } from '../engine/columns.ts'

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

/** Creates the tables of sign-ins, of the gateway's own sessions, and of requests of command lines. */
export const SIGN_IN_TABLES_SQL = `
create table sign_in_attempt (
  state_hash text primary key not null,
  ${texts('browser_hash', 'nonce', 'verifier', 'return_path')},
  expires_at_ms bigint not null
);
create index sign_in_attempt_by_end on sign_in_attempt (expires_at_ms);
create table sign_in_identity (
  account_id text primary key not null,
  issuer text not null,
  role text check (role in ('viewer', 'operator')),
  signed_in_at_ms bigint not null
);
create table user_session (
  id text primary key not null,
  ${texts('account_id', 'client')},
  hash text not null unique,
  kind text not null check (kind in ('browser', 'command')),
  id_token text,
  key_id text,
  created_at_ms bigint not null,
  last_seen_at_ms bigint not null,
  idle_ms bigint not null,
  expires_at_ms bigint not null,
  revoked_at_ms bigint
);
create index user_session_by_account on user_session (account_id, created_at_ms);
create index user_session_by_end on user_session (expires_at_ms);
create table device_grant (
  device_hash text primary key not null,
  user_hash text not null unique,
  ${texts('client', 'address')},
  state text not null check (state in ('pending', 'approved', 'denied')),
  account_id text,
  created_at_ms bigint not null,
  polled_at_ms bigint not null,
  expires_at_ms bigint not null
);
create index device_grant_by_end on device_grant (expires_at_ms);
create table operator_link (
  hash text primary key not null,
  browser_hash text,
  expires_at_ms bigint not null
);
`
