import { hash } from 'node:crypto'
import { answererOf } from '../../core/money/prices.ts'
import { decimalUsd } from '../../core/money/usd.ts'
import type { Ending } from '../../core/reply/byte-source.ts'
import type { Usage } from '../../core/reply/usage.ts'
import type { Exchange, Target } from '../../core/request/exchange.ts'
import type { RequestDocument } from '../../core/request/request.ts'
import type { Receipt, ReceiptLatency, ReceiptSettlement, ReceiptUsage } from '../../core/telemetry/receipt.ts'
import { type Accountants, billOf } from './billing.ts'
import { toReceiptFigures } from './receipt-figures.ts'
import { scopeHash } from './scope-hash.ts'

/** A finished request, with the end of its reply. */
export interface ReplyFacts {
  readonly id: string
  readonly exchange: Exchange
  /** The pipeline that ran. */
  readonly pipeline: string
  /** `undefined` when no reply was sent. */
  readonly status: number | undefined
  /** True when the whole reply was written to the client's connection. */
  readonly isDelivered: boolean
  readonly replySha256: string
  readonly replyBytes: number
  readonly latency: Latency
  /** Time of the request's admission, in milliseconds since 1970. */
  readonly admittedAtMs: number
  /** Time at which the pipeline had its reply or failed: the admission's, and what passed since. */
  readonly repliedAtMs: number
  /** Settlement of the payment, call by call. */
  readonly settlement?: ReceiptSettlement | undefined
  /** Reason for the gateway's refusal; recorded in telemetry, not in the receipt. */
  readonly reason?: string | undefined
}

/** Durations in milliseconds. */
export interface Latency {
  readonly totalMs: number
  readonly gatewayMs: number
  /** `undefined` when no provider was called. */
  readonly providerMs: number | undefined
  /** `undefined` when no byte of a body was written. */
  readonly firstByteMs?: number | undefined
}

/** Inputs of a receipt beside the finished request. */
export interface BuildOptions extends Accountants {
  /** Now, in milliseconds since 1970. */
  readonly nowMs: number
  /** Unset for a receipt that is not stored: the request is not hashed, and its conversation not recognised. */
  readonly isKept: boolean
}

const FIRST_ERROR_STATUS = 400
/** Longest name in UTF-16 units; names are the client's own text. */
const LONGEST_NAME = 300
const SHA256 = Symbol('SHA-256 of the request')
/** Above this size, where it takes half a millisecond, hashing moves to another thread; the copy for it costs a third of that. */
const MOST_BYTES_HASHED_HERE = 1024 * 1024

/** Builds the receipt of a request whose reply has been sent; at once, unless its stream has not ended or its body is large. */
export function buildReceipt(facts: ReplyFacts, options: BuildOptions): Receipt | Promise<Receipt> {
  const { reply, received } = facts.exchange
  const ending = reply?.kind === 'stream' ? (reply.ending ?? reply.ended) : undefined
  const requestSha256 = options.isKept ? received.document.memo(SHA256, digestOf) : ''
  if (ending instanceof Promise || requestSha256 instanceof Promise)
    return Promise.all([ending, requestSha256]).then(([ending, requestSha256]) =>
      receiptOf(facts, { ...options, ending, requestSha256 }),
    )
  return receiptOf(facts, { ...options, ending, requestSha256 })
}

function digestOf({ bytes }: RequestDocument): string | Promise<string> {
  return bytes.length > MOST_BYTES_HASHED_HERE ? hashElsewhere(bytes) : hash('sha256', bytes, 'hex')
}

async function hashElsewhere(bytes: Buffer): Promise<string> {
  // Safe: request bodies are never in shared memory, which the type allows for.
  return Buffer.from(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)).toString('hex')
}

function receiptOf(
  facts: ReplyFacts,
  { ending, requestSha256, nowMs, isKept, ...accountants }: BuildOptions & Gathered,
): Receipt {
  const { exchange, id, status, pipeline, latency, admittedAtMs } = facts
  const usage = ending?.usage ?? exchange.latestUsage
  const served = servedBy(exchange)
  const outcome = outcomeOf(facts, ending)
  const conversation = isKept ? exchange.conversation : UNREAD
  return {
    v: 2,
    id,
    created_at: new Date(nowMs).toISOString(),
    scope_sha256: scopeHash(id, exchange.caller.scope),
    request_id: exchange.id,
    route: exchange.route,
    dialect: exchange.dialect.name,
    stream: exchange.wantsStream,
    status: status ?? null,
    model_asked: nameOf(exchange.client.document.model),
    model_served: served === undefined ? null : nameOf(usage?.servedModel ?? served.model),
    provider: served?.provider ?? null,
    attempts: exchange.calls.map(({ provider, model, outcome, status }) => ({
      provider,
      model: nameOf(model),
      outcome,
      status: status ?? null,
    })),
    pipeline: nameOf(pipeline, pipeline.length),
    conversation_id: conversation.id,
    turn: conversation.turn,
    steps: exchange.trace.map(({ module, action, durationMs, ownCostNanoUsd, figures }) => ({
      module,
      action: nameOf(action),
      ms: rounded(durationMs),
      ...(ownCostNanoUsd !== undefined && { own_usd: decimalUsd(ownCostNanoUsd) }),
      ...(figures !== undefined && { figures: toReceiptFigures(figures) }),
    })),
    usage: usage === undefined ? unreportedUsage(exchange, outcome) : usageOf(usage),
    outcome,
    ...billOf({ exchange, usage, served, outcome, atMs: admittedAtMs }, accountants),
    request_sha256: requestSha256,
    reply_sha256: facts.replySha256,
    reply_bytes: facts.replyBytes,
    latency: latencyOf(latency),
    ...(facts.settlement && { settlement: facts.settlement }),
  }
}

const UNREAD = { id: '', turn: 0 }

interface Gathered {
  readonly ending: Ending | undefined
  readonly requestSha256: string
}

/** Returns how the request ended. A broken stream reports its own end; an incomplete reply of another kind was cancelled by the client. */
function outcomeOf({ isDelivered, status }: ReplyFacts, ending: Ending | undefined): Receipt['outcome'] {
  if (ending?.outcome === 'incomplete') return 'incomplete'
  if (!isDelivered) return 'cancelled'
  if (status === undefined || status >= FIRST_ERROR_STATUS) return 'error'
  // Ended from outside: the client has received an error event.
  return ending?.outcome === 'cancelled' ? 'cancelled' : 'complete'
}

/** Returns the target that replied; a stored reply names its original target in a header. */
function servedBy({ calls, reply }: Exchange): Target | undefined {
  if (calls.length > 0) return answererOf({ calls })
  const name = reply?.headers['x-svc-model']
  if (typeof name !== 'string') return undefined
  const slash = name.indexOf('/')
  return slash < 0 ? undefined : { provider: name.slice(0, slash), model: name.slice(slash + 1) }
}

/** Truncates a name without splitting a character, as signed text requires. */
function nameOf(text: string, longest = LONGEST_NAME): string {
  return text.slice(0, longest).toWellFormed()
}

/** A plain word. Other text from the provider is left out. */
const WORD = /^[\w.-]{1,40}$/

const NO_USAGE: ReceiptUsage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
}

/** Returns zero for a request that was refused before any provider was called, otherwise unknown. */
function unreportedUsage({ calls }: Exchange, outcome: Receipt['outcome']): ReceiptUsage | null {
  return calls.length === 0 && outcome === 'error' ? NO_USAGE : null
}

function usageOf(usage: Usage): ReceiptUsage {
  const { cacheCreation, webSearchRequests, webFetchRequests, serviceTier, inferenceGeo, speed } = usage
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_read_input_tokens: usage.cacheReadInputTokens,
    cache_creation_input_tokens: usage.cacheCreationInputTokens,
    ...(cacheCreation && {
      cache_creation: {
        ephemeral_5m_input_tokens: cacheCreation.ephemeral5m,
        ephemeral_1h_input_tokens: cacheCreation.ephemeral1h,
      },
    }),
    ...(webSearchRequests + webFetchRequests > 0 && {
      server_tool_use: { web_search_requests: webSearchRequests, web_fetch_requests: webFetchRequests },
    }),
    ...(isWord(serviceTier) && { service_tier: serviceTier }),
    ...(isWord(inferenceGeo) && { inference_geo: inferenceGeo }),
    ...(isWord(speed) && { speed }),
    ...(usage.isCounted && { counted_by: 'gateway' as const }),
  }
}

function isWord(text: string | undefined): text is string {
  return text !== undefined && WORD.test(text)
}

function latencyOf({ totalMs, gatewayMs, providerMs }: Latency): ReceiptLatency {
  return {
    total_ms: rounded(totalMs),
    gateway_ms: rounded(gatewayMs),
    ...(providerMs !== undefined && { provider_ms: rounded(providerMs) }),
  }
}

/** Rounds to whole microseconds. */
function rounded(ms: number): number {
  return Math.max(0, Math.round(ms * 1000) / 1000)
}
