/** A response that its caller can continue, read and delete: stored by its provider, or by the gateway. */
export interface StoredResponse {
  /** The caller's scope: no other caller finds it. */
  readonly scope: string
  readonly id: string
  /** The provider that stores it; of a response that the gateway stores, the one that has made it. */
  readonly provider: string
  /** Digest of the credential with which it was made; empty without one, and where the gateway stores it. */
  readonly account: string
  /** Input and output tokens together, which a continuation has as input; `null`: not known. */
  readonly tokens: number | null
  /** The conversation and the response as JSON where the gateway stores it; `null` where its provider does. */
  readonly content: string | null
  /** Id of the conversation that it belongs to; `null` for one of an earlier version. */
  readonly conversation: string | null
}

/** Stored responses of all callers, with a time to live and bounds. A broken store rejects with `service_unavailable`. */
export interface StoredResponses {
  find(scope: string, id: string): Promise<StoredResponse | undefined>
  /** Returns the bytes of the content that `find` would read; 0 for none. */
  contentBytes(scope: string, id: string): Promise<number>
  put(response: StoredResponse): Promise<void>
  delete(scope: string, id: string): Promise<void>
}
