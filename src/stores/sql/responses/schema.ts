import { counts, texts } from '../engine/columns.ts'

/** The table of responses that callers can continue. */
export interface ResponseTables {
  stored_response: StoredResponseTable
}

/** A response of a caller. */
export interface StoredResponseTable {
  scope: string
  id: string
  provider: string
  /** Digest of the credential with which it was made. */
  account: string
  /** Input and output together; `null` until they are known. */
  total_tokens: number | null
  /** JSON where the gateway stores the response; `null` where its provider does. */
  content: string | null
  /** Size that counts against the bounds. */
  size_bytes: number
  created_at_ms: number
  expires_at_ms: number
  conversation_id: string | null
}

/** Creates the table of stored responses. */
export const RESPONSE_TABLES_SQL = `
create table stored_response (
  ${texts('scope', 'id', 'provider', 'account')},
  ${counts('size_bytes', 'created_at_ms', 'expires_at_ms')},
  total_tokens bigint,
  content text,
  conversation_id text,
  constraint stored_response_key primary key (scope, id)
);
create index stored_response_by_caller on stored_response (scope, created_at_ms, id);
create index stored_response_by_expiry on stored_response (expires_at_ms);
create index stored_response_by_age on stored_response (created_at_ms, size_bytes);
`
