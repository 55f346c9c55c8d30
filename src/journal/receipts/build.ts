import { hash } from 'node:crypto'
import { answererOf } from '../../core/money/prices.ts'
import { decimalUsd } from '../../core/money/usd.ts'
import type { Ending } from '../../core/reply/byte-source.ts'
import type { Usage } from '../../core/reply/usage.ts'
import type { Exchange, Target } from '../../core/request/exchange.ts'
import type { RequestDocument } from '../../core/request/request.ts'
import type {
  Receipt,
  ReceiptAttempt,
  ReceiptLatency,
  ReceiptSettlement,
  ReceiptStep,
  ReceiptUsage,
} from '../../core/telemetry/receipt.ts'
import type { CallTrace, StepTrace } from '../../core/telemetry/traces.ts'
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
  const { cost, counterfactual } = billOf({ exchange, usage, served, outcome, atMs: admittedAtMs }, accountants)
  // Members in alphabetic order, here and below: `JSON.stringify` prints the canonical text.
  return {
    attempts: exchange.calls.map(attemptOf),
    conversation_id: conversation.id,
    cost,
    counterfactual,
    created_at: new Date(nowMs).toISOString(),
    dialect: exchange.dialect.name,
    id,
    latency: latencyOf(latency),
    model_asked: nameOf(exchange.client.document.model),
    model_served: served === undefined ? null : nameOf(usage?.servedModel ?? served.model),
    outcome,
    pipeline: nameOf(pipeline, pipeline.length),
    provider: served?.provider ?? null,
    reply_bytes: facts.replyBytes,
    reply_sha256: facts.replySha256,
    request_id: exchange.id,
    request_sha256: requestSha256,
    route: exchange.route,
    scope_sha256: scopeHash(id, exchange.caller.scope),
    settlement: facts.settlement && settlementOf(facts.settlement),
    status: status ?? null,
    steps: exchange.trace.map(stepOf),
    stream: exchange.wantsStream,
    turn: conversation.turn,
    usage: usage === undefined ? unreportedUsage(exchange, outcome) : usageOf(usage),
    v: 2,
  }
}

function attemptOf({ provider, model, outcome, status }: CallTrace): ReceiptAttempt {
  return { model: nameOf(model), outcome, provider, status: status ?? null }
}

function stepOf({ module, action, durationMs, ownCostNanoUsd, figures }: StepTrace): ReceiptStep {
  return {
    action: nameOf(action),
    figures: figures && toReceiptFigures(figures),
    module,
    ms: rounded(durationMs),
    own_usd: ownCostNanoUsd === undefined ? undefined : decimalUsd(ownCostNanoUsd),
  }
}

function settlementOf({
  amount_cents,
  challenge_id,
  currency,
  method,
  reference,
}: ReceiptSettlement): ReceiptSettlement {
  return { amount_cents, challenge_id, currency, method, reference }
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
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  input_tokens: 0,
  output_tokens: 0,
}

/** Returns zero for a request that was refused before any provider was called, otherwise unknown. */
function unreportedUsage({ calls }: Exchange, outcome: Receipt['outcome']): ReceiptUsage | null {
  return calls.length === 0 && outcome === 'error' ? NO_USAGE : null
}

function usageOf(usage: Usage): ReceiptUsage {
  const { cacheCreation, webSearchRequests, webFetchRequests, serviceTier, inferenceGeo, speed } = usage
  const searches = webSearchRequests + webFetchRequests
  return {
    cache_creation: cacheCreation && {
      ephemeral_1h_input_tokens: cacheCreation.ephemeral1h,
      ephemeral_5m_input_tokens: cacheCreation.ephemeral5m,
    },
    cache_creation_input_tokens: usage.cacheCreationInputTokens,
    cache_read_input_tokens: usage.cacheReadInputTokens,
    counted_by: usage.isCounted ? 'gateway' : undefined,
    inference_geo: isWord(inferenceGeo) ? inferenceGeo : undefined,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    server_tool_use:
      searches === 0 ? undefined : { web_fetch_requests: webFetchRequests, web_search_requests: webSearchRequests },
    service_tier: isWord(serviceTier) ? serviceTier : undefined,
    speed: isWord(speed) ? speed : undefined,
  }
}

function isWord(text: string | undefined): text is string {
  return text !== undefined && WORD.test(text)
}

function latencyOf({ totalMs, gatewayMs, providerMs }: Latency): ReceiptLatency {
  return {
    gateway_ms: rounded(gatewayMs),
    provider_ms: providerMs === undefined ? undefined : rounded(providerMs),
    total_ms: rounded(totalMs),
  }
}

/** Rounds to whole microseconds. */
function rounded(ms: number): number {
  return Math.max(0, Math.round(ms * 1000) / 1000)
}
