import type { Reply } from '../reply/reply.ts'
import type { Exchange, Target } from '../request/exchange.ts'

/** A caller's own credential as received: the header that carried it, and its secret value. */
export interface PresentedCredential {
  /**
   * `x-provider-key`: cloud mode, the key of the caller's own account with a provider. `payment`: the call
   * is paid for, and is made at the operator's expense; the secret is empty.
   */
  header: 'authorization' | 'x-api-key' | 'x-provider-key' | 'payment'
  secret: string
  /** The only provider that may receive it. Unset: the one whose form it has. */
  provider?: string
}

/** The gateway itself, which always uses the operator's keys: it presents none, and no client can present it. */
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
  /** Digest of the only credential that may be used: that of the stored response in question. Default: any. */
  account?: string
  /** True to remove from replies the headers about limits of the operator's account. Default: false. */
  hidesAccountLimits?: boolean
}

/** A model that a provider has. */
export interface ListedModel {
  /** The provider's own name of the model. */
  readonly id: string
  readonly displayName?: string | undefined
  /** Moment in milliseconds since 1970. */
  readonly createdAtMs?: number | undefined
  readonly ownedBy?: string | undefined
  /** Members of the provider's own entry, unchanged: limits, capabilities, prices, …. */
  readonly fields?: Readonly<Record<string, unknown>>
}

/** A service that answers model requests: in the canonical shape, or in the client's own if it supports that. */
export interface Provider {
  readonly name: string
  /** True if the operator configured a credential for this provider; shown by the health probe. */
  readonly configured: boolean
  /** True if it is used only while no other provider has a credential. */
  readonly stepsBack?: boolean
  /**
   * True if it has Responses of its own, which it stores: they can be continued, read and deleted there. False if it gets a
   * translation.
   */
  readonly storesResponses?: boolean
  /** Returns whether a model name without a prefix has this provider's form, as `claude-…` has. */
  claims(model: string): boolean
  /** Returns whether it could be called for a caller with this credential. */
  isUsableBy(credential: PresentedCredential | undefined): boolean
  /**
   * Returns the caller's own parts of a call that can choose the account or the reply: the caller's credential as a
   * hash, and headers that the operator lets through. Empty: nothing. Unset: never anything.
   */
  callerParts?(credential: PresentedCredential | undefined, headers: RelayCall['headers']): string
  /**
   * Answers the exchange's request with a model of its own. Throws `upstream_error`, `authentication_error`,
   * `invalid_request` for a request that it cannot take, or the signal's reason.
   */
  complete(exchange: Exchange, target: Target): Promise<Reply>
  /** Answers `count_tokens`, with the model as the provider knows it in `body`. Throws like `complete`. */
  countTokens(call: RelayCall, target: Target): Promise<Reply>
  /** Lists its models. Throws like `complete`. */
  listModels(call: RelayCall): Promise<readonly ListedModel[]>
  /** Queries a model by the provider's name of it, which a list may lack; `undefined`: it has none. Throws like `complete`. */
  findModel?(id: string, call: RelayCall): Promise<ListedModel | undefined>
  /** Relays a route that the operator allowed. Throws like `complete`. */
  relay(call: RelayCall): Promise<Reply>
  close(): Promise<void>
}
