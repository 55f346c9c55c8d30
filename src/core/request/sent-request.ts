import type { CallTrace } from '../telemetry/traces.ts'

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

/** Adds to a call what was sent for it; the last request that was sent may be that of a call before. */
export function withSent(
  call: CallTrace,
  { sent, calls }: { readonly sent?: SentRequest | undefined; readonly calls: readonly CallTrace[] },
): CallTrace {
  return sent === undefined || calls.some((other) => other.sent === sent) ? call : { ...call, sent }
}
