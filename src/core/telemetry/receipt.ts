import type { DialectName } from '../reply/reply-dialect.ts'
import type { RouteName } from '../request/route-name.ts'

/**
 * Record of one request: its caller, model, cost, and the cost without the gateway. It holds digests of the bodies,
 * never prompts, replies or credentials. Moments are ISO 8601 in UTC with milliseconds, durations are milliseconds, money
 * is USD as a decimal with nine digits after the point.
 */
export interface Receipt {
  /** 1: signed by itself. 2: a leaf of the ledger. */
  readonly v: 1 | 2
  /** `rcpt_` and 26 characters: the moment of the request, then randomness. */
  readonly id: string
  /** Moment of the reply's end. */
  readonly created_at: string
  /** SHA-256 of the id, a newline and the scope that may read the receipt, hexadecimal; version 2. */
  readonly scope_sha256?: string
  readonly request_id: string
  readonly route: RouteName
  /** The API shape of the client's request and reply. */
  readonly dialect: DialectName
  readonly stream: boolean
  /** The HTTP status; `null` when the client left before there was one. */
  readonly status: number | null
  readonly model_asked: string
  /** By the provider's name of it; `null` when no model answered. */
  readonly model_served: string | null
  readonly provider: string | null
  /** The calls to providers, in their order. */
  readonly attempts: readonly ReceiptAttempt[]
  /** The plugins that ran, as a pipeline string; `none` for none. */
  readonly pipeline: string
  /** The conversation, and the turn of it from 1, as far as the process knew; left out in receipts of earlier versions. */
  readonly conversation_id?: string
  readonly turn?: number
  readonly steps: readonly ReceiptStep[]
  /** As far as the reply has reported it. */
  readonly usage: ReceiptUsage | null
  /** `incomplete`: the reply broke off. `cancelled`: the client disconnected. `error`: there was no model reply. */
  readonly outcome: 'complete' | 'incomplete' | 'cancelled' | 'error'
  readonly cost: ReceiptCost
  readonly counterfactual: Counterfactual
  /** SHA-256 of the body as the client sent it, hexadecimal. */
  readonly request_sha256: string
  /** SHA-256 of all bytes that were written as the reply's body, pings and errors included, hexadecimal. */
  readonly reply_sha256: string
  readonly reply_bytes: number
  readonly latency: ReceiptLatency
  /** Set for a call that was paid for by itself. */
  readonly settlement?: ReceiptSettlement | undefined
  /** Names the key of the signature; version 1 only. */
  readonly key_id?: string
}

/** Payment of an agent's call. */
export interface ReceiptSettlement {
  /** `sandbox`: no money has moved. */
  readonly method: 'stripe' | 'sandbox'
  readonly challenge_id: string
  /** The payment provider's id of the payment. */
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

/** Action and duration of one plugin. */
export interface ReceiptStep {
  readonly module: string
  readonly action: string
  readonly ms: number
  /** Cost of the plugin's own model calls, in USD, at the operator's expense: no part of `cost`. */
  readonly own_usd?: string | undefined
  /** Counts and words of the plugin, such as the number of values that `redact` found; left out for none. */
  readonly figures?: Readonly<Record<string, number | string>> | undefined
}

/** Usage of the reply; members that are left out were not reported, or are 0. */
export interface ReceiptUsage {
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cache_read_input_tokens: number
  readonly cache_creation_input_tokens: number
  readonly cache_creation?:
    | { readonly ephemeral_5m_input_tokens: number; readonly ephemeral_1h_input_tokens: number }
    | undefined
  readonly server_tool_use?: { readonly web_search_requests: number; readonly web_fetch_requests: number } | undefined
  /** Words on which the price depends. */
  readonly service_tier?: string | undefined
  readonly inference_geo?: string | undefined
  readonly speed?: string | undefined
  /** The provider reported less than the reply can have: these counts are the gateway's estimate. */
  readonly counted_by?: 'gateway' | undefined
}

/** The provider's price. */
export interface ReceiptCost {
  /** USD; `null` when it cannot be known. */
  readonly provider_usd: string | null
  /** Source of the price: `operator`, `catalogue`, or `ceiling` for a model whose price is not known. */
  readonly price_source: string | null
  /** The entry of the price list. */
  readonly matched: string | null
}

/** Cost of the request without the gateway. */
export interface Counterfactual {
  /** USD; `null` when it cannot be computed. */
  readonly usd: string | null
  /** The upper end of a range whose lower end is `usd`; left out for a single figure. */
  readonly usd_at_most?: string | undefined
  /**
   * `same`: no plugin changed request or reply. `cached-reply`: the price of the stored reply's usage.
   * `estimate`: plugins changed the request, and its tokens before that are estimated.
   */
  readonly basis: 'same' | 'cached-reply' | 'estimate'
  /** How the figure was obtained, in words. */
  readonly explained: string
}

/** Durations, in milliseconds. */
export interface ReceiptLatency {
  /** From the request's head to the end of the reply. */
  readonly total_ms: number
  /** From the complete request to the first byte of the reply, without the wait for providers. */
  readonly gateway_ms: number
  /** The wait for providers, until the first byte of the reply; left out when none was called. */
  readonly provider_ms?: number | undefined
}

/** Key and value of a receipt's signature. */
export interface ReceiptSignature {
  readonly alg: 'Ed25519'
  /** The key's id. */
  readonly key: string
  /** Over the canonical JSON (RFC 8785) of the receipt without its `signature`; base64url. */
  readonly value: string
}

/** Proof that a receipt is in the ledger, whose head is signed. */
export interface ReceiptProof {
  /** Place of the receipt in the ledger, from 0. */
  readonly leaf_index: number
  /** The inclusion proof (RFC 9162), from the leaf up; base64. */
  readonly hashes: readonly string[]
  /** The signed tree head (C2SP checkpoint). */
  readonly checkpoint: string
}

/** A receipt as it is sent: with a signature of its own (version 1), or a proof (version 2). */
export interface SignedReceipt extends Receipt {
  readonly signature?: ReceiptSignature
  readonly proof?: ReceiptProof
}

/** A receipt that is appended to the ledger. */
export interface StoredReceipt {
  readonly id: string
  /** The caller's scope; only that scope finds it. */
  readonly scope: string
  readonly createdAtMs: number
  /** Canonical JSON of the receipt. */
  readonly json: string
}

/** A page of receipts. */
export interface ReceiptPage {
  /** The id of the last receipt of the page before. */
  readonly after?: string | undefined
  readonly limit: number
}

/** Stores receipts. Every method is idempotent, and rejects with `service_unavailable` while the store fails. */
export interface ReceiptStore {
  /** Appends receipts to the ledger, all or none, at least one; those whose ids exist already stay as they are. */
  put(receipts: readonly StoredReceipt[]): Promise<void>
  /** Returns a receipt of this scope. */
  get(scope: string, id: string): Promise<SignedReceipt | undefined>
  /** Lists receipts of a scope, oldest first. Throws `invalid_request` when `after` is none of them. */
  list(scope: string, page: ReceiptPage): Promise<readonly SignedReceipt[]>
}
