import type { DialectName } from '../reply/reply-dialect.ts'
import type { Usage } from '../reply/usage.ts'
import type { Target } from '../request/exchange.ts'
import type { RouteName } from '../request/route-name.ts'

/**
 * What happened to one request: who asked for what, who answered, what it cost, and what it would have cost without the
 * gateway. It holds digests of what was said, never prompts, answers or credentials. Moments are ISO 8601 in UTC with
 * milliseconds, durations are milliseconds, money is USD as a decimal with nine digits behind the point.
 */
export interface Receipt {
  readonly v: 1
  /** `rcpt_` and 26 characters: the moment of the request, then randomness. */
  readonly id: string
  /** When the reply had ended. */
  readonly created_at: string
  readonly request_id: string
  readonly route: RouteName
  /** The shape in which the client asked and read. */
  readonly dialect: DialectName
  readonly stream: boolean
  /** The HTTP status; `null` when the client left before there was one. */
  readonly status: number | null
  readonly model_asked: string
  /** By the provider's name of it; `null` when nobody answered. */
  readonly model_served: string | null
  readonly provider: string | null
  /** The calls to providers, in their order. */
  readonly attempts: readonly ReceiptAttempt[]
  /** The modules that ran, as a pipeline string; `none` for none. */
  readonly pipeline: string
  readonly steps: readonly ReceiptStep[]
  /** As far as the reply has told it. */
  readonly usage: ReceiptUsage | null
  /** `incomplete`: the answer broke off. `cancelled`: the client left. `error`: there was no answer. */
  readonly outcome: 'complete' | 'incomplete' | 'cancelled' | 'error'
  readonly cost: ReceiptCost
  readonly counterfactual: Counterfactual
  /** SHA-256 of the body as the client sent it, hexadecimal. */
  readonly request_sha256: string
  /** SHA-256 of all bytes that were written as the reply's body, pings and errors included, hexadecimal. */
  readonly reply_sha256: string
  readonly reply_bytes: number
  readonly latency: ReceiptLatency
  /** Of a call that was paid for by itself. */
  readonly settlement?: ReceiptSettlement
  /** Names the key of the signature. */
  readonly key_id: string
}

/** How a call of an agent was paid for. */
export interface ReceiptSettlement {
  readonly method: 'stripe'
  readonly challenge_id: string
  /** The payment provider's name of the payment. */
  readonly reference: string
  readonly amount_cents: number
  readonly currency: string
}

/** One call to a provider. */
export interface ReceiptAttempt {
  readonly provider: string
  readonly model: string
  readonly outcome: 'answered' | 'failed'
  readonly status: number | null
}

/** What one module did, and for how long. */
export interface ReceiptStep {
  readonly module: string
  readonly action: string
  readonly ms: number
  /** What its own questions to models cost, in USD, at the operator's expense: no part of `cost`. */
  readonly own_usd?: string
}

/** What the reply used; members that are left out were not told, or are 0. */
export interface ReceiptUsage {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cache_read_input_tokens: number
  readonly cache_creation_input_tokens: number
  readonly cache_creation?: {
    readonly ephemeral_5m_input_tokens: number
    readonly ephemeral_1h_input_tokens: number
  }
  readonly server_tool_use?: { readonly web_search_requests: number; readonly web_fetch_requests: number }
  /** Words on which the price depends. */
  readonly service_tier?: string
  readonly inference_geo?: string
  readonly speed?: string
  /** The provider reported less than the reply can have: these counts are the gateway's estimate. */
  readonly counted_by?: 'gateway'
}

/** What the provider bills. */
export interface ReceiptCost {
  /** USD; `null` when it cannot be known. */
  readonly provider_usd: string | null
  /** Where the price came from: `operator`, `catalogue`, or `ceiling` for a model whose price is not known. */
  readonly price_source: string | null
  /** The entry of the price list. */
  readonly matched: string | null
}

/** What the request would have cost without the gateway. */
export interface Counterfactual {
  /** USD; `null` when it cannot be told. */
  readonly usd: string | null
  /** The upper end of a range whose lower end is `usd`; left out where nothing is unknown. */
  readonly usd_at_most?: string | undefined
  /**
   * `same`: no module changed request or answer. `cached-reply`: the price of the stored answer's usage.
   * `estimate`: modules changed the request, and its tokens before that are estimated.
   */
  readonly basis: 'same' | 'cached-reply' | 'estimate'
  /** How the figure was obtained, in words. */
  readonly explained: string
}

/** Where the time went, in milliseconds. */
export interface ReceiptLatency {
  /** From the request's head to the end of the reply. */
  readonly total_ms: number
  /** From the whole request to the first of the reply, without the wait for providers. */
  readonly gateway_ms: number
  /** The wait for providers, until the first of the reply; left out when none was asked. */
  readonly provider_ms?: number
}

/** Who signed a receipt, and the signature. */
export interface ReceiptSignature {
  readonly alg: 'Ed25519'
  /** The key's id. */
  readonly key: string
  /** Over the canonical JSON (RFC 8785) of the receipt without its `signature`; base64url. */
  readonly value: string
}

/** A receipt as it is kept and given out. */
export interface SignedReceipt extends Receipt {
  readonly signature: ReceiptSignature
}

/** A signed receipt as it is stored. */
export interface StoredReceipt {
  readonly id: string
  /** Whose it is; only that scope finds it. */
  readonly scope: string
  readonly createdAtMs: number
  /** Of the signed receipt. */
  readonly json: string
}

/** What to list. */
export interface ReceiptPage {
  /** The id of the last receipt that was seen. */
  readonly after?: string | undefined
  readonly limit: number
}

/** Keeps receipts. Every method rejects with `service_unavailable` while it cannot; the same may be asked again. */
export interface ReceiptStore {
  /** Keeps receipts, all or none, one at least; those whose ids are there already stay as they are. */
  put(receipts: readonly StoredReceipt[]): Promise<void>
  /** A receipt of this scope. */
  get(scope: string, id: string): Promise<SignedReceipt | undefined>
  /** Receipts of a scope, oldest first. Throws `invalid_request` when `after` is none of them. */
  list(scope: string, page: ReceiptPage): Promise<readonly SignedReceipt[]>
}

/** Knows what an answer costs. */
export interface Pricer {
  /** What this usage costs, in whole nano-USD, at the moment of the request's admission. */
  price(
    target: Target,
    usage: Usage,
    atMs: number,
  ): { readonly costNanoUsd: number; readonly source: string; readonly matched: string | undefined }
}
