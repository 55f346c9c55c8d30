import type { Target } from '../request/exchange.ts'

/** One call to a provider, and what came of it: who was asked, in which order, who answered. */
export interface CallTrace extends Target {
  /** `answered` with a reply that reached the pipeline; `failed` when the next target, or nobody, was asked after it. */
  readonly outcome: 'answered' | 'failed'
  readonly status: number | undefined
}

/** What one module did with the exchange. */
export interface StepTrace {
  readonly module: string
  /** `ran` unless the module said more: `hit`, `miss`, `attached`, `bypassed`, `idle` with its reason, … */
  action: string
  /** Milliseconds in the module itself, on the way in and on the way out, without what it waited for downstream. */
  durationMs: number
  details?: Record<string, unknown>
  /** What it has asked models itself, in nano-USD, at the operator's expense. */
  ownCostNanoUsd?: number
}

/** An edit that a module made, for traces and receipts. */
export interface EditTrace {
  readonly module: string
  readonly paths: readonly string[]
  readonly bytesBefore: number
  readonly bytesAfter: number
}
