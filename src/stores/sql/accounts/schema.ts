/** The tables of accounts, their keys, and what was done to either. */
export interface AccountTables {
  account: AccountTable
  api_key: ApiKeyTable
  audit_entry: AuditEntryTable
}

/** What an account pays for. */
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
  /** The paid period, as the payment provider has told it. */
  period_start_ms: number | null
  period_end_ms: number | null
  /** Set by an operator: its keys and sessions are refused from then on. */
  suspended_at_ms: number | null
  created_at_ms: number
}

/** An API key; of the key itself only a hash. */
export interface ApiKeyTable {
  id: string
  account_id: string
  /** Of the whole key, base64url: SHA-256, or HMAC-SHA-256 with the operator's pepper. */
  hash: string
  /** The first characters of the key, safe to show. */
  prefix: string
  name: string | null
  /** The pipeline string of its requests; `null`: the operator's. */
  pipeline_config: string | null
  /** JSON of the limits that its owner has set; `null`: none. */
  limits: string | null
  created_at_ms: number
  last_used_at_ms: number | null
  /** A revoked key stays for the books. */
  revoked_at_ms: number | null
}

/** Who did what to which account or key. The database refuses to change or delete a row. */
export interface AuditEntryTable {
  id: string
  at_ms: number
  account_id: string
  /** `user:<id>`, `operator`, `stripe`. */
  actor: string
  /** A noun and what happened to it, e.g. `key.created`. */
  action: string
  /** Id of the key or account that it happened to. */
  subject: string
  /** JSON of what changed; never a secret. */
  details: string
}
