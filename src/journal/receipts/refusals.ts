import { GatewayError } from '../../core/errors.ts'
import type { RequestRecord } from '../../core/ports/request-record.ts'
import { RandomPool } from '../../core/random-pool.ts'
import { conversationNamed } from '../../core/request/conversation/conversations.ts'
import type { PartialRequest } from '../../core/request/partial-request.ts'
import { NO_TAGS } from '../../core/request/tags.ts'
import { createReceiptId, ID_RANDOM_BYTES } from '../../core/telemetry/receipt-id.ts'
import { reasonOf } from '../../core/telemetry/refusal-reason.ts'
import type { FinishedRequest, RequestConversation } from '../../core/telemetry/telemetry.ts'
import { ownersOf, toRequestConversation } from './finished-request.ts'

/**
 * DESIGN — rows of refused requests
 *
 * A model request that is refused before its pipeline has no exchange and no receipt, but a row among the requests. Rows
 * use disk for as long as telemetry is kept, and refusals cost the sender nothing: each scope has a token bucket, all
 * together have one, and requests without a known key share the smallest. Refusals without a row are counted, and the next
 * row of that scope reports the number. Metrics and the log include all of them.
 */
const STRANGERS = { most: 60, perMinute: 1 }
const CALLER = { most: 60, perMinute: 10 }
const TOGETHER = { most: 600, perMinute: 100 }
const MOST_SCOPES = 1000
const MINUTE_MS = 60_000
/** The scope of requests without a known key: visible to operators only. */
const NO_SCOPE = ''
const LONGEST_NAME = 300

/** Dependencies of `Refusals`. */
export interface RefusalsOptions {
  readonly record: (request: FinishedRequest) => void
}

type Refused = RequestRecord & {
  readonly partialRequest: PartialRequest & Required<Pick<PartialRequest, 'route' | 'dialect'>>
}

/** Records a bounded number of refused requests. */
export class Refusals {
  readonly #options: RefusalsOptions
  readonly #randomness = new RandomPool(ID_RANDOM_BYTES)
  readonly #together = new Bucket(TOGETHER)
  readonly #strangers = new Bucket(STRANGERS)
  /** By scope, the least recently created first. */
  readonly #callers = new Map<string, Bucket>()

  constructor(options: RefusalsOptions) {
    this.#options = options
  }

  /** Records a request that has ended, if it was refused before its pipeline. */
  note(record: RequestRecord): void {
    if (!isRefused(record)) return
    const { caller } = record.partialRequest
    const bucket = caller === undefined ? this.#strangers : this.#bucketOf(caller.scope)
    const nowMs = record.endedAtMs
    if (!bucket.has(nowMs) || !this.#together.has(nowMs)) {
      bucket.leaveOut()
      return
    }
    this.#together.take()
    const leftOut = bucket.take()
    const startedAtMs = Math.floor(nowMs - record.durationMs)
    const id = createReceiptId(startedAtMs, this.#randomness.take())
    this.#options.record(rowOf(record, { id, startedAtMs, leftOut }))
  }

  #bucketOf(scope: string): Bucket {
    const known = this.#callers.get(scope)
    if (known !== undefined) return known
    const [oldest] = this.#callers.keys()
    if (this.#callers.size >= MOST_SCOPES && oldest !== undefined) this.#callers.delete(oldest)
    const bucket = new Bucket(CALLER)
    this.#callers.set(scope, bucket)
    return bucket
  }
}

/** Returns true for a refused request: one with an exchange gets its row from its receipt, and a client's disconnect is not a refusal. */
function isRefused(record: RequestRecord): record is Refused {
  const { partialRequest, exchange, error, delivered } = record
  if (exchange !== undefined || error === undefined || partialRequest?.route === undefined) return false
  return partialRequest.dialect !== undefined && (delivered || error instanceof GatewayError)
}

/** A token bucket with a constant refill rate, which counts the requests that found it empty. */
class Bucket {
  readonly #rate: { readonly most: number; readonly perMinute: number }
  #tokens: number
  #atMs: number | undefined
  #leftOut = 0

  constructor(rate: { readonly most: number; readonly perMinute: number }) {
    this.#rate = rate
    this.#tokens = rate.most
  }

  has(nowMs: number): boolean {
    const passedMs = Math.max(0, nowMs - (this.#atMs ?? nowMs))
    this.#tokens = Math.min(this.#rate.most, this.#tokens + (passedMs / MINUTE_MS) * this.#rate.perMinute)
    this.#atMs = nowMs
    return this.#tokens >= 1
  }

  leaveOut(): void {
    this.#leftOut++
  }

  /** Takes a token and returns how many requests were left out since the last one. */
  take(): number {
    this.#tokens--
    const leftOut = this.#leftOut
    this.#leftOut = 0
    return leftOut
  }
}

function conversationOf(scope: string, headers: PartialRequest['headers']): RequestConversation | null {
  const named = headers && conversationNamed(scope, headers)
  return named === undefined ? null : toRequestConversation(named)
}

interface RowParts {
  readonly id: string
  readonly startedAtMs: number
  readonly leftOut: number
}

function rowOf(record: Refused, { id, startedAtMs, leftOut }: RowParts): FinishedRequest {
  const { partialRequest, requestId, status, durationMs, delivered, error, hide } = record
  const { caller, tags, model = '' } = partialRequest
  const more = leftOut === 0 ? '' : ` (${leftOut} refused before it are not listed)`
  return {
    id,
    requestId,
    hasReceipt: false,
    scope: caller?.scope ?? NO_SCOPE,
    ...ownersOf(caller),
    tags: tags ?? caller?.tags ?? NO_TAGS,
    startedAtMs,
    route: partialRequest.route,
    dialect: partialRequest.dialect,
    isStream: false,
    status: delivered ? status : null,
    outcome: 'refused',
    reason: `${reasonOf(error, hide)}${more}`,
    cache: 'none',
    pipeline: 'none',
    modelAsked: hide(model).slice(0, LONGEST_NAME),
    modelServed: null,
    provider: null,
    conversation: caller === undefined ? null : conversationOf(caller.scope, partialRequest.headers),
    tokens: null,
    costNanoUsd: 0,
    costs: null,
    priceSource: null,
    counterfactualNanoUsd: 0,
    counterfactualAtMostNanoUsd: null,
    counterfactualBasis: 'same',
    gatewayMs: durationMs,
    providerMs: null,
    totalMs: durationMs,
    firstByteMs: null,
    stopReason: null,
    tools: [],
    serverToolCalls: 0,
    lost: null,
    trace: { steps: [], edits: [], calls: [] },
  }
}
