import { setTimeout as sleep } from 'node:timers/promises'
import { errorCodeOf, GatewayError, messageOf } from '../core/errors.ts'
import type { Log } from '../core/ports/log.ts'
import type { Reply } from '../core/reply/reply.ts'
import { hideSecrets } from '../core/secrets.ts'
import { collect, decodeSource } from './decode.ts'
import { type FailedReply, providerMessage, readFailedReply, retryAfterMs, upstreamErrorParts } from './failed-reply.ts'
import { relayedHeaders } from './reply-headers.ts'
import { TOO_MANY_INFORMATIONAL, type Transport, type UpstreamRequest, type UpstreamResponse } from './transport.ts'
import type { Wire } from './wire.ts'

/**
 * DESIGN — one call to a provider
 *
 * A call is tried up to `tries` times: on a 5xx, on a connection that breaks before the reply's headers, and on a 429
 * whose `retry-after` is at most two seconds. Between tries it waits with exponential back-off and full jitter, or for
 * `retry-after`, up to ten seconds. The provider's `x-should-retry: false` ends the tries; after the last one the client
 * gets the same header, since its own retries would multiply these. Nothing is retried after a 200, whatever happens to
 * its body: the model has worked, and is paid. A time-out is not retried either, nor are endless informational replies:
 * the provider may still be working. A redirect is a failure: followed
 * here, it would send the operator's credential to any address that it names, and by the client the client's.
 * Other replies of the provider, its 4xx errors included, are passed on as they are.
 */
export interface CallPolicy {
  readonly provider: string
  readonly tries: number
  readonly replyLimitBytes: number
  /** Longest time from a reply's headers until its body is whole, in milliseconds; a stream has none. */
  readonly bodyTimeoutMs: number
  /** The same for an error's body, of which only the message is read. */
  readonly errorBodyTimeoutMs: number
  readonly random: () => number
  readonly log: Log
}

const FIRST_BACKOFF_MS = 250
const LONGEST_RETRY_AFTER_MS = 10_000
const LONGEST_RATE_LIMIT_WAIT_MS = 2_000
const ERROR_BODY_LIMIT_BYTES = 1024 * 1024

/** Error codes after which the provider may already have processed the request. */
const NOT_RETRIED = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', TOO_MANY_INFORMATIONAL])

/** Reason for a failed try, and the wait before the next one. */
interface Failure {
  readonly reason: string
  readonly waitMs: number | undefined
  readonly final: boolean
  /** The provider's error reply; unset when no reply came. */
  readonly reply?: FailedReply
  readonly cause?: unknown
}

/** Options of one call. */
export interface CallOptions {
  readonly policy: CallPolicy
  readonly signal: AbortSignal
  /** The caller's scope, by which connections are shared. */
  readonly scope: string
  /** Logged with the call. */
  readonly requestId: string
  /** Decodes the reply. */
  readonly wire: Wire
  /** True to wait for a short rate limit; false when another credential can be tried instead. */
  readonly waitsForLimit: boolean
}

/** Calls the provider and returns its reply. Throws `upstream_error` after the last try,
 * `service_unavailable` when no connection is free, or the signal's reason. */
export async function callProvider(
  transport: Transport,
  request: UpstreamRequest,
  options: CallOptions,
): Promise<Reply> {
  const { policy, signal, requestId } = options
  let last: FailedReply | undefined
  for (let attempt = 1; ; attempt++) {
    const waitsForLimit = options.waitsForLimit && attempt < policy.tries
    const outcome = await tryOnce(transport, request, { ...options, waitsForLimit })
    if (!('reason' in outcome)) return outcome
    policy.log.warn({ requestId, provider: policy.provider, attempt, reason: outcome.reason }, 'upstream.failed')
    last = outcome.reply ?? last
    if (outcome.final || attempt >= policy.tries) throw exhausted(policy, attempt, outcome, last)
    const backoffMs = policy.random() * FIRST_BACKOFF_MS * 2 ** (attempt - 1)
    await sleep(outcome.waitMs ?? backoffMs, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}

async function tryOnce(transport: Transport, request: UpstreamRequest, options: CallOptions): Promise<Reply | Failure> {
  const { signal } = options
  let response: UpstreamResponse | undefined
  try {
    response = await transport.send(request, options)
    const secrets = response.status < 300 ? [] : secretsOf(request.headers)
    const failure = await failureOf(response, { ...options, secrets })
    return failure ?? (await toReply(response, { ...options, secrets }))
  } catch (cause) {
    // The body has no reader yet; paused, it would hold its connection.
    response?.source.cancel()
    signal.throwIfAborted()
    if (cause instanceof GatewayError) throw cause
    // A 200 is paid for, even when the reply is unusable.
    const hasAnswered = response !== undefined && response.status < 300
    const final = hasAnswered || NOT_RETRIED.has(errorCodeOf(cause) ?? '')
    const failure = { reason: describe(cause), waitMs: undefined, final, cause }
    return response === undefined ? failure : { ...failure, reply: unreadReply(response, secretsOf(request.headers)) }
  }
}

/** Returns the failure of a redirect, a 5xx or a short 429; the body is read so that the connection can be reused. */
async function failureOf(
  { status, headers, source }: UpstreamResponse,
  { waitsForLimit, secrets, signal, policy }: CallOptions & { secrets: readonly string[] },
): Promise<Failure | undefined> {
  const waitMs = retryAfterMs(headers['retry-after'])
  const mayRetry = headers['x-should-retry'] !== 'false'
  const isShort = waitMs !== undefined && waitMs <= LONGEST_RATE_LIMIT_WAIT_MS
  const passesSoon = waitsForLimit && mayRetry && status === 429 && isShort
  const isRedirect = status >= 300 && status < 400
  if (status < 500 && !passesSoon && !isRedirect) return undefined
  const limits = { limitBytes: ERROR_BODY_LIMIT_BYTES, signal, timeoutMs: policy.errorBodyTimeoutMs }
  const body = await collect(decodeSource(source, headers['content-encoding']), limits).catch(() => {
    signal.throwIfAborted()
    return Buffer.alloc(0)
  })
  return {
    reason: isRedirect ? `answered ${status}, a redirect` : `answered ${status}${providerMessage(body, secrets)}`,
    waitMs: waitMs === undefined ? undefined : Math.min(waitMs, LONGEST_RETRY_AFTER_MS),
    final: isRedirect || !mayRetry,
    reply: readFailedReply({ status, headers, body, secrets }),
  }
}

async function toReply(
  { status, headers, source }: UpstreamResponse,
  { policy, signal, wire, secrets }: CallOptions & { secrets: readonly string[] },
): Promise<Reply> {
  const body = decodeSource(source, headers['content-encoding'])
  const kept = relayedHeaders(headers)
  if (status === 200 && wire.isStream(headers)) return wire.stream({ status, headers: kept }, body)
  const { replyLimitBytes: limitBytes, bodyTimeoutMs: timeoutMs } = policy
  const bytes = await collect(body, { limitBytes, signal, timeoutMs })
  return wire.bytes(status, kept, status < 400 ? bytes : withoutSecrets(bytes, secrets))
}

/** Headers that carry a credential to a provider. */
const CREDENTIAL_HEADERS = new Set(['authorization', 'x-api-key', 'x-goog-api-key'])

/** Describes a failed reply whose body was not read. */
function unreadReply({ status, headers }: UpstreamResponse, secrets: readonly string[]): FailedReply {
  return readFailedReply({ status, headers, body: Buffer.alloc(0), secrets })
}

/** Returns the credentials in a request's headers: some providers echo them in errors. */
function secretsOf(headers: readonly string[]): string[] {
  return headers.flatMap((name, i) =>
    i % 2 === 0 && CREDENTIAL_HEADERS.has(name) ? [(headers[i + 1] ?? '').replace(/^Bearer /, '')] : [],
  )
}

/** Removes credentials; returns the same bytes when there are none. */
function withoutSecrets(bytes: Buffer, secrets: readonly string[]): Buffer {
  const isTold = secrets.some((secret) => secret !== '' && bytes.includes(secret))
  return isTold ? Buffer.from(hideSecrets(bytes.toString(), secrets)) : bytes
}

function describe(cause: unknown): string {
  const code = errorCodeOf(cause)
  return code === undefined ? messageOf(cause) : `${messageOf(cause)} (${code})`
}

function exhausted(
  policy: CallPolicy,
  attempts: number,
  failure: Failure,
  last: FailedReply | undefined,
): GatewayError {
  const tries = attempts === 1 ? 'one try' : `${attempts} tries`
  return new GatewayError('upstream_error', `Provider ${policy.provider} failed after ${tries}: ${failure.reason}.`, {
    cause: failure.cause,
    ...upstreamErrorParts(policy.provider, last),
  })
}
