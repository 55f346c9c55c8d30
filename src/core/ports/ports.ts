import type { Fee } from '../money/quota-charge.ts'
import type { Reply } from '../reply/reply.ts'
import type { DialectName } from '../reply/reply-dialect.ts'
import type { Exchange, Target } from '../request/exchange.ts'
import type { Asked } from '../request/partial-request.ts'
import type { RequestDocument } from '../request/request.ts'

/** Structured log: an event named noun-verb, with fields. Shaped like pino's logger, which implements it. */
export interface Log {
  debug(fields: object, event: string): void
  info(fields: object, event: string): void
  warn(fields: object, event: string): void
  error(fields: object, event: string): void
  child(bindings: Record<string, unknown>): Log
}

/** The time, passed in so that tests can turn it. */
export interface Clock {
  /** Wall-clock time in milliseconds since 1970. */
  nowMs(): number
}

/** Estimates tokens, for whoever cannot ask the provider. */
export interface TokenCounter {
  /**
   * Input tokens of a request for a model, by its provider's name; a whole number of 1 or more. `dialect` is that of the
   * document; default: the canonical one. Never throws.
   */
  inputTokens(request: RequestDocument, model: string, dialect?: DialectName): number
  /** Learns from an answer how many input tokens its provider has counted, those of its cache included. */
  learn?(request: RequestDocument, model: string, counted: number): void
  /** The counter of one caller, by its scope, which alone learns from that caller's answers. */
  forCaller?(scope: string): TokenCounter
}

/** A bounded store of byte values. A miss and an expired entry are both `undefined`; a broken store rejects. */
export interface ByteStore {
  get(key: string): Promise<Buffer | undefined>
  set(key: string, value: Buffer, ttlMs: number): Promise<void>
  delete(key: string): Promise<void>
  /** Of those who share this store, by which they agree on one of them, in the order of what is asked here. Unset: nobody shares it. */
  readonly leases?: Leases
}

/**
 * Leases by name, each held by at most one process of all: but for one that stood still for longer than its lease, so
 * that they spare work and guard nothing. A broken store rejects.
 */
export interface Leases {
  /** Takes a lease that nobody holds; gives whether it was free. */
  take(name: string, ttlMs: number): Promise<boolean>
  /** Makes a lease that one holds last longer. */
  renew(name: string, ttlMs: number): Promise<void>
  release(name: string): Promise<void>
}

/** Opens byte stores, one per namespace; the same namespace is the same data on every instance that shares an engine. */
export interface ByteStores {
  /** `maxBytes` bounds the memory engine; shared engines have their own limits. */
  open(namespace: string, options: { maxBytes: number }): ByteStore
}

/** A cap: what a scope may spend in a day or month of UTC. */
export interface SpendWindow {
  /** Whose money: a key, a user, the whole instance. */
  readonly scope: string
  /** `d:2026-11-21` or `m:2026-11`. */
  readonly window: string
  readonly limitNanoUsd: number
}

/** Money to be held for one request. */
export interface SpendHold {
  /** The idempotency key: the same hold again renews its lease and holds nothing twice. */
  readonly holdId: string
  readonly amountNanoUsd: number
  /** Must be left besides, in each window, and is not held. Default: nothing. */
  readonly spareNanoUsd?: number
  /** No window twice. */
  readonly windows: readonly SpendWindow[]
  /** How long it is held unless it is renewed; then it counts as spent. */
  readonly leaseMs: number
  /** Held along with the money, in one transaction where both are asked of the database: both, or neither. */
  readonly fee?: Fee | undefined
}

/** Whether money is held, and the sums of its windows with it; if not, by which window, and what is spent and held there. */
export type Reservation =
  | { readonly ok: true; readonly standing: readonly WindowStanding[] }
  | { readonly ok: false; readonly refusedBy: SpendWindow; readonly spentNanoUsd: number }

/** The sums of a window. */
export interface SpendSums {
  readonly settledNanoUsd: number
  readonly heldNanoUsd: number
}

/** A window and its sums. */
export interface WindowStanding extends SpendWindow, SpendSums {}

/**
 * Keeps spend within caps, exactly, for all instances together: money is held before it is spent. A hold belongs to the
 * windows of its admission, also when it ends after midnight. Amounts are whole nano-dollars. Every method rejects with
 * `service_unavailable` while the database does not answer; what was asked has then happened wholly or not at all, and
 * may be asked again.
 */
export interface SpendLedger {
  /**
   * Holds an amount in all windows at once, or in none: admitted when settled + held + amount + spare ≤ limit in each.
   * Windows refuse before a fee does; that throws `plan_calls_used` or `payment_required`.
   */
  reserve(hold: SpendHold): Promise<Reservation>
  /**
   * Raises a hold to `toNanoUsd` in all its windows, or not at all, and renews its lease; a lower amount only renews.
   * Throws `internal_error` when the hold was settled or is unknown.
   */
  grow(change: { holdId: string; toNanoUsd: number; leaseMs: number }): Promise<Reservation>
  /**
   * Ends a hold: what it really cost is spent in its windows, also beyond what was held; the rest is free again. Twice is
   * harmless: the first counts. After the lease has ended it replaces the full amount that was counted by the truth.
   * While the database does not answer, it is told later. Throws `internal_error` when the hold is unknown.
   */
  settle(end: { holdId: string; costNanoUsd: number }): Promise<void>
  /** What is spent and held now, window by window. */
  spent(windows: readonly Pick<SpendWindow, 'scope' | 'window'>[]): Promise<SpendSums[]>
}

/** A caller's own credential, as it came: which header carried it, and its secret value. */
export interface PresentedCredential {
  /**
   * `x-provider-key`: cloud mode, where it is the key of an account of the caller's with a provider. `payment`: the call
   * is paid for, and is made at the operator's expense; the secret is empty.
   */
  header: 'authorization' | 'x-api-key' | 'x-provider-key' | 'payment'
  secret: string
  /** The only provider that may see it. Unset: the one whose form it has. */
  provider?: string
}

/** The gateway itself, which always uses the operator's keys: it shows none, and nobody can present it. */
export const OPERATOR: PresentedCredential = { header: 'x-provider-key', secret: '' }

/** A call that is relayed to a provider without passing the pipeline: token counts, model lists. */
export interface RelayCall {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  /** The query string as the client sent it, `?` included, or empty. */
  query: string
  /** The caller's scope. */
  scope: string
  headers: NodeJS.Dict<string | string[]>
  body: Buffer | undefined
  credential: PresentedCredential | undefined
  requestId: string
  signal: AbortSignal
}

/** A model that a provider has. */
export interface ListedModel {
  /** The provider's own name of it. */
  readonly id: string
  readonly displayName?: string | undefined
  /** Moment in milliseconds since 1970. */
  readonly createdAtMs?: number | undefined
  readonly ownedBy?: string | undefined
  /** Members of the provider's own entry, as it has them: limits, capabilities, prices, …. */
  readonly fields?: Readonly<Record<string, unknown>>
}

/** An upstream that answers model requests: in the canonical shape, or in the client's own if it speaks that. */
export interface Provider {
  readonly name: string
  /** Whether the operator gave this provider a credential; shown by the health probe. */
  readonly configured: boolean
  /** Whether it is there only while no other provider has a credential. */
  readonly stepsBack?: boolean
  /** Whether a model name without a prefix has this provider's form, as `claude-…` has. */
  claims(model: string): boolean
  /** Whether it could be called for a caller with this credential. */
  isUsableBy(credential: PresentedCredential | undefined): boolean
  /**
   * What of the caller's own a call would carry that can choose the account, or the answer: the caller's credential as a
   * hash, and headers that the operator lets through. Empty: nothing. Unset: never anything.
   */
  callerParts?(credential: PresentedCredential | undefined, headers: RelayCall['headers']): string
  /**
   * Answers the exchange's request with a model of its own. Throws `upstream_error`, `authentication_error`,
   * `invalid_request` for what it cannot be asked, or the signal's reason.
   */
  complete(exchange: Exchange, target: Target): Promise<Reply>
  /** Answers `count_tokens`, with the model as the provider knows it in `body`. Throws like `complete`. */
  countTokens(call: RelayCall, target: Target): Promise<Reply>
  /** The models it has. Throws like `complete`. */
  listModels(call: RelayCall): Promise<readonly ListedModel[]>
  /** Asks for one model by the provider's name of it, which a list may lack; `undefined`: it has none. Throws like `complete`. */
  findModel?(id: string, call: RelayCall): Promise<ListedModel | undefined>
  /** Relays a route that the operator allowed. Throws like `complete`. */
  relay(call: RelayCall): Promise<Reply>
  close(): Promise<void>
}

/** Told about every finished request, whatever became of it; must not throw and must not block. */
export type RequestObserver = (record: RequestRecord) => void

/** What is known of a request once its reply has ended. */
export interface RequestRecord {
  readonly exchange: Exchange | undefined
  /** What was known of a request without an exchange; unset where its route reads nothing of the kind. */
  readonly asked: Asked | undefined
  readonly requestId: string
  readonly method: string
  readonly path: string
  /** The pattern of the route that the path has matched; unset when there was none. */
  readonly route: string | undefined
  readonly status: number
  readonly durationMs: number
  /** The reply reached the client whole. */
  readonly delivered: boolean
  readonly error: unknown
  /** Hides what the request presented as credentials in a text that repeats what it sent. */
  readonly hide: (text: string) => string
}
