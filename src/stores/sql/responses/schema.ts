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
