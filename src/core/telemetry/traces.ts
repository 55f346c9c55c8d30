import type { Target } from '../request/exchange.ts'
import type { SentRequest } from '../request/sent-request.ts'

/** One call to a provider, in the order of fallback, and its result. */
export interface CallTrace extends Target {
  /** `answered` with a reply that reached the pipeline; `failed` when the next target, or none, was called after it. */
  readonly outcome: 'answered' | 'failed'
  readonly status: number | undefined
  /** @internal the request as it was sent; `undefined` where none was */
  readonly sent?: SentRequest | undefined
}

/** Action of one plugin on the exchange. */
export interface StepTrace {
  readonly module: string
  /** `ran` unless the plugin noted more: `hit`, `miss`, `attached`, `bypassed`, `idle` with its reason, … */
  action: string
  /** Milliseconds in the plugin itself, on the way in and on the way out, without its waits for downstream. */
  durationMs: number
  details?: Record<string, unknown>
  /** Counts and single words for the signed receipt; see `toReceiptFigures` for their bounds. */
  figures?: Readonly<Record<string, number | string>>
  /** Cost of the plugin's own model calls, in nano-USD, at the operator's expense. */
  ownCostNanoUsd?: number
}

/** An edit by a plugin, for traces and receipts. */
export interface EditTrace {
  readonly module: string
  readonly paths: readonly string[]
  readonly bytesBefore: number
  readonly bytesAfter: number
}
