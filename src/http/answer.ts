import type { ParameterizedContext } from 'koa'
import type { OpenCharge, QuotaCharges } from '../accounts/plans/quota-charges.ts'
import type { Reply } from '../core/reply/reply.ts'
import type { ClientRequest } from '../core/request/client-request.ts'
import type { Conversations } from '../core/request/conversation/conversations.ts'
import { Exchange, type Target } from '../core/request/exchange.ts'
import type { ExchangeState } from '../core/request/exchange-state.ts'
import type { RouteName } from '../core/request/route-name.ts'
import type { ContinuedResponse } from '../core/request/stored-context.ts'
import { idleModules } from '../core/telemetry/idle-modules.ts'
import type { ReceiptSettlement } from '../core/telemetry/receipt.ts'
import type { ClientDialect } from '../dialects/client-dialect.ts'
import type { ReplyRecorder } from '../journal/receipts/receipts.ts'
import type { PipelineContext } from '../pipeline/context.ts'
import type { RunnablePipeline } from '../pipeline/pipelines.ts'
import type { Authenticated } from './authentication.ts'
import { disconnectController, onClosed } from './client-disconnect.ts'
import { forProvider } from './credential.ts'
import { type CaptureOptions, captureRequest } from './dashboard/capture-request.ts'
import { OpenRequest, type RequestsInFlight } from './in-flight.ts'
import { RECEIPT_HEADER, ReceiptOfReply } from './receipt-of-reply.ts'
import type { ReplyWatch } from './reply-watch.ts'
import type { RequestState } from './request-context.ts'
import { type SendOptions, sendReply } from './send-reply.ts'

/** Dependencies of `answer`, shared by all model routes. */
export interface AnswerOptions {
  readonly route: RouteName
  /** API shape of the route's requests and replies. */
  readonly dialect: ClientDialect
  /** Returns the caller's own parts that its targets would receive; they are part of what makes two requests equal. */
  readonly callerParts: (exchange: Exchange) => string
  /** Quota charges of plans. Unset: calls are free. */
  readonly quotaCharges: Pick<QuotaCharges, 'open'> | undefined
  /** Recognises the conversations of requests. */
  readonly conversations: Conversations
  /** Records how replies ended; unset records nothing. */
  readonly recorder: ReplyRecorder | undefined
  /** Captures bodies for the dashboard; unset captures none. */
  readonly capture: CaptureOptions | undefined
  /** Requests that can be ended from outside; unset for paid calls. */
  readonly inFlight: RequestsInFlight | undefined
  readonly send: SendOptions
  /** Returns an observer of a reply that may have to be stored, as its client gets it. */
  readonly watch?: (exchange: Exchange) => ReplyWatch | undefined
  /** Observes a provider's reply, whatever becomes of it. */
  readonly watchUpstream?: (exchange: Exchange, reply: Reply) => void
}

/** Reply headers, lower-case names. */
type Headers = Readonly<Record<string, string>>

/** An admitted request, with what its pipeline needs. */
export interface Admitted {
  readonly options: AnswerOptions
  readonly authenticated: Authenticated
  readonly pipeline: RunnablePipeline
  readonly client: ClientRequest
  /** Tags of the key and of the request. Default: none. */
  readonly tags?: readonly string[]
  readonly targets: readonly [Target, ...Target[]]
  /** The stored response that a provider adds to the request. */
  readonly continued?: ContinuedResponse | undefined
  /** Id of the conversation that the request continues, where it names a stored response. */
  readonly conversation?: string | undefined
  /** Reply headers with the caller's rate-limit status. */
  readonly rateLimitStatus: Headers
  /** Request headers that plugins and providers may see. Default: all. */
  readonly headers?: NodeJS.Dict<string | string[]>
  /** Times on the process's monotonic clock, in milliseconds. */
  readonly enteredAtMs: number
  readonly readAtMs: number
  /** Wraps the pipeline; has its reply before anything is sent, and returns further reply headers. */
  readonly payment?: (exchange: Exchange, next: () => Promise<void>) => Promise<Headers>
  /** Returns how the request was paid for; called when the reply has ended. */
  readonly settlement?: () => ReceiptSettlement | undefined
}

/** Lowest HTTP status of an error. */
const FIRST_ERROR = 400

/** Sends a request through its pipeline, and the reply to the client. */
export async function answer(ctx: ParameterizedContext<RequestState>, admitted: Admitted): Promise<void> {
  const { options, authenticated, pipeline, enteredAtMs, readAtMs, payment, settlement } = admitted
  const disconnect = disconnectController(ctx.res)
  const charge = options.quotaCharges?.open(ctx.state.requestId, authenticated.caller)
  // No provider is called for a caller whose quota is used up.
  const exchange = openExchange(ctx, admitted, {
    signal: disconnect.signal,
    beforeUpstream: charge && (() => charge.hold()),
  })
  ctx.state.exchange = exchange
  const ranPipeline = () => printRan(exchange, pipeline)
  const { recorder, capture } = options
  const opening = { exchange, ranPipeline, enteredAtMs, readAtMs, settlement }
  const receipt = recorder && new ReceiptOfReply(ctx, { recorder, ...opening })
  if (receipt !== undefined && capture !== undefined)
    captureRequest({ id: receipt.id, exchange, response: ctx.res, guards: pipeline.guards }, capture)
  const named = receipt !== undefined && recorder?.writesReceipts ? { [RECEIPT_HEADER]: receipt.id } : {}
  // Safe: set just above.
  const run = () => pipeline.run(ctx as unknown as PipelineContext)
  const open = new OpenRequest(exchange, disconnect, (error) => receipt?.markFailed(error))
  options.inFlight?.enter(open, ctx.res)
  let paid: Headers | undefined
  try {
    // The client may have disconnected during a payment or a query to the rate limiter.
    exchange.signal.throwIfAborted()
    if (payment === undefined) await run()
    else paid = await payment(exchange, run)
    await endCharge(ctx, exchange, charge)
    if (open.endedBy !== undefined) throw open.endedBy
  } catch (thrown) {
    const error = open.endedBy ?? thrown
    receipt?.markFailed(error)
    exchange.close()
    exchange.cancelUnopened()
    // A step may have failed with the provider call in-flight.
    disconnect.abort(error)
    ctx.set(named)
    // A client that disconnects during the provider call is charged: otherwise it could avoid its quota.
    if ((ctx.res.destroyed || open.endedBy !== undefined) && exchange.isAsked) charge?.count()
    else await charge?.waive()
    throw error
  } finally {
    receipt?.markReplied()
  }
  const idle = idleModules(exchange.trace)
  const headers = {
    ...admitted.rateLimitStatus,
    'x-svc-pipe': ranPipeline(),
    ...(idle !== '' && { 'x-svc-idle': idle }),
    ...named,
    ...paid,
  }
  send(ctx, exchange, { options, headers, open })
}

/** Charges a reply, also a cached one, to the caller's quota; a failed one is free. */
async function endCharge(
  ctx: ParameterizedContext,
  { reply }: Exchange,
  charge: OpenCharge | undefined,
): Promise<void> {
  if (charge === undefined) return
  const status = reply?.status ?? ctx.status
  if (status >= FIRST_ERROR) return charge.waive()
  await charge.hold()
  charge.count()
}

function openExchange(
  ctx: ParameterizedContext<RequestState>,
  admitted: Admitted,
  own: Pick<ExchangeState, 'signal' | 'beforeUpstream'>,
): Exchange {
  const { options, authenticated, pipeline, client, tags, targets, continued, conversation, headers } = admitted
  return new Exchange({
    id: ctx.state.requestId,
    route: options.route,
    caller: authenticated.caller,
    tags,
    credential: forProvider(authenticated.credential, targets[0].provider),
    headers: headers ?? ctx.req.headers,
    callerParts: options.callerParts,
    query: ctx.search,
    client,
    request: undefined,
    targets,
    stored: { continued, conversation, watch: options.watchUpstream },
    conversations: options.conversations,
    ...own,
    reply: undefined,
    pipeline: pipeline.printed,
    trace: [],
    edits: [],
    calls: [],
    supersededReplies: [],
  })
}

interface Sending extends Pick<Admitted, 'options'> {
  /** Headers about the request: its pipeline, its receipt, the caller's rate-limit status. */
  headers: Headers
  open: OpenRequest
}

/** A plugin may have replied through `ctx.body`, which Koa sends. */
function send(ctx: ParameterizedContext<RequestState>, exchange: Exchange, sending: Sending): void {
  const { dialect, send, watch } = sending.options
  // SDKs of the two dialects read the id from different headers.
  const headers = { ...sending.headers, 'request-id': exchange.id, [dialect.requestIdHeader]: exchange.id }
  const hasSuperseded = exchange.close()
  const { reply } = exchange
  if (reply === undefined || (ctx.body !== undefined && ctx.body !== null)) {
    exchange.cancelUnopened()
    ctx.set(headers)
    return
  }
  ctx.respond = false
  if (hasSuperseded) onClosed(ctx.res, () => exchange.cancelUnopened())
  const { open } = sending
  const breaksOff = (breakOff: (message: string) => void): void => {
    open.breakOff = breakOff
  }
  const request = exchange.received
  sendReply(ctx.res, reply, { ...send, headers, dialect, request, watch: watch?.(exchange), breaksOff })
}

/** Returns the pipeline that ran, without the plugins that were bypassed. */
function printRan({ trace }: Exchange, { printed }: RunnablePipeline): string {
  if (!trace.some(({ action }) => action === 'bypassed')) return printed
  const bypassed = new Set(trace.filter(({ action }) => action === 'bypassed').map(({ module }) => module))
  const ran = printed.split(',').filter((step) => !bypassed.has(step.split('?')[0] ?? ''))
  return ran.length === 0 ? 'none' : ran.join(',')
}
