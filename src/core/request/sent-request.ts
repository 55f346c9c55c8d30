/** A request as it was sent to a provider, after plugins and translations. */
export interface SentRequest {
  /** Path at the provider's address, with its query. */
  readonly path: string
  readonly bytes: Buffer
  /** Digest of the credential; empty without one. */
  readonly account: string
  /** True if the credential is the caller's own. */
  readonly isCallersOwn: boolean
}
