/** The tables of accounts, their keys, and the audit log of both. */
export interface AccountTables {
  account: AccountTable
  api_key: ApiKeyTable
  audit_entry: AuditEntryTable
}

/** The plan of an account. */
export type Tier = 'free' | 'pro' | 'team'

/** A user of the identity provider; its id is the `sub` of their session tokens. */
export interface AccountTable {
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
