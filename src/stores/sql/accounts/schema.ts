import { isCount, texts } from '../engine/columns.ts'
import type { PeopleTables, PersonColumns } from './people-schema.ts'
import { PEOPLE_TABLES_SQL, PERSON_COLUMNS_SQL } from './people-schema.ts'

/** The tables of accounts, their keys, and the audit log of both. */
export interface AccountTables extends PeopleTables {
  account: AccountTable
  api_key: ApiKeyTable
  audit_entry: AuditEntryTable
}

/** The plan of an account. */
export type Tier = 'free' | 'pro' | 'team'

/** A user of the identity provider; its id is the `sub` of their session tokens. */
export interface AccountTable extends PersonColumns {
  id: string
  tier: Tier
  /** The sum of the account's ledger entries. Only the ledger writes it, and the two that follow. */
  posted_credits: number
  /** The sum of its open holds, at most what is posted. */
  held_credits: number
  /** The number of its ledger entries. */
  entry_seq: number
  /** Begin of the paid period, as reported by the payment provider. */
  period_start_ms: number | null
  period_end_ms: number | null
  /** Set by an operator: its keys and sessions are refused from then on. */
  suspended_at_ms: number | null
  created_at_ms: number
}

/** An API key; only a hash of the key itself is stored. */
export interface ApiKeyTable {
  id: string
  account_id: string
  /** Hash of the whole key, base64url: SHA-256, or HMAC-SHA-256 with the operator's pepper. */
  hash: string
  /** The first characters of the key, safe to show. */
  prefix: string
  name: string | null
  /** The pipeline string of its requests; `null`: the operator's. */
  pipeline_config: string | null
  /** JSON of its owner's limits; `null`: none. */
  limits: string | null
  created_at_ms: number
  last_used_at_ms: number | null
  /** A revoked key is kept as a record. */
  revoked_at_ms: number | null
  team_id: string | null
  /** JSON list of its tags; `null`: none. */
  tags: string | null
  /** A suspended key is refused until it is resumed. */
  suspended_at_ms: number | null
  /** A key is refused from this moment on; `null`: it does not expire. */
  expires_at_ms: number | null
  /** Expiry that an operator or lead has set: a refresh of a session's key stays within it. */
  managed_until_ms: number | null
  /** Hash of the secret before the last rotation, which works until `previous_until_ms`. */
  previous_hash: string | null
  previous_until_ms: number | null
  /** `user:<id>` or `operator`; `null` for keys older than this column. */
  created_by: string | null
  /** `user:<id>` or `operator` that set the limits, when not the key's owner: the owner cannot change them. */
  limits_by: string | null
}

/** An action on an account or key, with its actor. The database refuses to change or delete a row. */
export interface AuditEntryTable {
  id: string
  at_ms: number
  account_id: string
  /** `user:<id>`, `operator`, `stripe`. */
  actor: string
  /** A noun and its change, e.g. `key.created`. */
  action: string
  /** Id of the key or account. */
  subject: string
  /** JSON of the changes; never a secret. */
  details: string
}

/** Creates the tables of accounts, people, keys and the audit log. */
export const ACCOUNT_TABLES_SQL = `
create table account (
  id text primary key not null,
  tier text default 'free' not null check (tier in ('free', 'pro', 'team')),
  posted_credits bigint default 0 not null ${isCount('posted_credits')},
  held_credits bigint default 0 not null ${isCount('held_credits')},
  entry_seq bigint default 0 not null ${isCount('entry_seq')},
  period_start_ms bigint,
  period_end_ms bigint,
  suspended_at_ms bigint,
  created_at_ms bigint not null,
  ${PERSON_COLUMNS_SQL},
  constraint account_held_is_posted check (held_credits <= posted_credits)
);
create table api_key (
  id text primary key not null,
  ${texts('account_id', 'prefix')},
  hash text not null unique,
  name text,
  pipeline_config text,
  limits text,
  created_at_ms bigint not null,
  last_used_at_ms bigint,
  revoked_at_ms bigint,
  team_id text,
  tags text,
  suspended_at_ms bigint,
  expires_at_ms bigint,
  previous_hash text,
  previous_until_ms bigint,
  created_by text,
  limits_by text
);
create index api_key_by_account on api_key (account_id, created_at_ms, id);
create unique index api_key_by_previous on api_key (previous_hash);
create index api_key_by_team on api_key (team_id);
create index api_key_by_creation on api_key (created_at_ms, id);
create table audit_entry (
  id text primary key not null,
  at_ms bigint not null,
  ${texts('account_id', 'actor', 'action', 'subject', 'details')}
);
create index audit_by_time on audit_entry (at_ms, id);
create index audit_by_account on audit_entry (account_id, at_ms, id);
${PEOPLE_TABLES_SQL}`
