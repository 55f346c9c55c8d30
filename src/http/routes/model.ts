import { performance } from 'node:perf_hooks'
import type { Context, Middleware, ParameterizedContext } from 'koa'
import type { QuotaCharges } from '../../accounts/plans/quota-charges.ts'
import type { ClientRequest } from '../../core/request/client-request.ts'
import { Exchange, type Target } from '../../core/request/exchange.ts'
import type { PartialRequest } from '../../core/request/partial-request.ts'
import { RequestDocument } from '../../core/request/request.ts'
import type { RouteName } from '../../core/request/route-name.ts'
import { idleModules } from '../../core/telemetry/idle-modules.ts'
import type { ReceiptSettlement } from '../../core/telemetry/receipt.ts'
import type { ClientDialect } from '../../dialects/client-dialect.ts'
import type { PipelineContext } from '../../pipeline/context.ts'
import type { Pipelines, RunnablePipeline } from '../../pipeline/pipelines.ts'
import type { ReplyRecorder } from '../../receipts/receipts.ts'
import { type Authenticate, type Authenticated, authenticateRequest } from '../authentication.ts'
import type { Intakes } from '../body-intake.ts'
import { disconnectController, onClosed } from '../client-disconnect.ts'
import { assertNoSecret, forProvider } from '../credential.ts'
import { type CaptureOptions, captureRequest } from '../dashboard/capture-request.ts'
import { assertModels, assertModules, isCapped } from '../key-limits.ts'
import { limitRequests, type RequestLimits } from '../rate-limit.ts'
import { RECEIPT_HEADER, ReceiptOfReply } from '../receipt-of-reply.ts'
import type { RequestState } from '../request-context.ts'
import { type SendOptions, sendReply } from '../send-reply.ts'

/** What a model route is made from. */
export interface ModelRouteOptions {
  readonly route: RouteName
  readonly authenticate: Authenticate
  readonly limits: RequestLimits
  /** The shape in which its clients ask and read. */
  readonly dialect: ClientDialect
  /** Who may answer a model. Throws `invalid_request`. */
  readonly targetsOf: (model: string) => readonly [Target, ...Target[]]
  readonly pipelines: Pipelines
  /** What of the caller's own its targets would be shown: it tells requests apart. */
  readonly callerParts: (exchange: Exchange) => string
  /** What plans take for requests; `undefined`: nothing. */
  readonly fees: Pick<QuotaCharges, 'of'> | undefined
  /** Is told how replies ended; `undefined`: nobody is. */
  readonly recorder: ReplyRecorder | undefined
  /** What the dashboard may show of bodies; `undefined`: nothing. */
  readonly capture: CaptureOptions | undefined
  readonly intakes: Intakes
  readonly send: SendOptions
}

const MOST_BYTES_READ_AGAIN = 64 * 1024
/** The first status that tells of an error. */
const FIRST_ERROR = 400

/** A route that sends a model request through its pipeline and the reply to the client. */
export function modelRoute(options: ModelRouteOptions): Middleware<RequestState> {
  const { dialect } = options
  return async function model(ctx) {
    ctx.state.dialect = dialect
    const enteredAtMs = performance.now()
    const partialRequest: PartialRequest = { route: options.route, dialect: dialect.name }
    ctx.state.partialRequest = partialRequest
    const authenticated = await authenticateRequest(ctx.req, { ...options, partialRequest })
    const standing = await limitRequests(options.limits, authenticated.caller)
    options.limits.running?.enter(authenticated.caller.scope, ctx.res)
    const header = pipelineHeader(ctx)
    if (header !== undefined) assertNoSecret(header, 'x-svc-pipe', ctx.req.headers)
    const pipeline = options.pipelines.for(header, authenticated.pipelineConfig, isCapped(authenticated.caller.limits))
    assertModules(pipeline, authenticated.caller.limits)
    const bytes = await options.intakes.callers.readJson(ctx.req, { sender: authenticated.caller.scope })
    const readAtMs = performance.now()
    const client = parseBody(bytes, dialect, partialRequest)
    const { model } = client.document
    partialRequest.model = model
    assertNoSecret(model, 'model', ctx.req.headers)
    const targets = options.targetsOf(model)
    assertModels(client.document, targets, authenticated.caller.limits)
    await answer(ctx, { options, authenticated, pipeline, client, targets, standing, enteredAtMs, readAtMs })
  }
}

/** Parses a body; of one that is refused, the model is noted as far as it can be read. Throws `invalid_request`. */
export function parseBody(bytes: Buffer, dialect: ClientDialect, partialRequest: PartialRequest): ClientRequest {
  try {
    return dialect.parse(bytes)
  } catch (error) {
    partialRequest.model = modelIn(bytes)
    throw error
  }
}

/** The model that a small body names. A large one is not read a second time. */
function modelIn(bytes: Buffer): string | undefined {
  if (bytes.length > MOST_BYTES_READ_AGAIN) return undefined
  try {
    const model = new RequestDocument(bytes).field('model')
    return typeof model === 'string' ? model : undefined
  } catch {
    return undefined
  }
}

/** A request that may be answered. */
export interface Admitted {
  readonly options: Pick<
    ModelRouteOptions,
    'route' | 'dialect' | 'fees' | 'recorder' | 'capture' | 'send' | 'callerParts'
  >
  readonly authenticated: Authenticated
  readonly pipeline: RunnablePipeline
  readonly client: ClientRequest
  readonly targets: readonly [Target, ...Target[]]
  /** Headers that tell where the caller stands with its rate limit. */
  readonly standing: Readonly<Record<string, string>>
  /** Request headers that modules and providers may see. Default: all. */
  readonly headers?: NodeJS.Dict<string | string[]>
  /** Moments on the process's own clock, in milliseconds. */
  readonly enteredAtMs: number
  readonly readAtMs: number
  /** Done when there is a reply and nothing of it is sent yet; gives further headers of the reply. */
  readonly beforeReply?: (exchange: Exchange) => Promise<Readonly<Record<string, string>>>
  /** How the request was paid for, asked when the reply has ended. */
  readonly settlement?: () => ReceiptSettlement | undefined
}

/** Sends a request through its pipeline, and the reply to the client. */
export async function answer(ctx: ParameterizedContext<RequestState>, admitted: Admitted): Promise<void> {
  const { options, pipeline, enteredAtMs, readAtMs, settlement } = admitted
  const leaving = disconnectController(ctx.res)
  const exchange = openExchange(ctx, admitted, leaving.signal)
  ctx.state.exchange = exchange
  const ranPipeline = () => printRan(exchange, pipeline)
  const { recorder, capture } = options
  const opening = { exchange, ranPipeline, enteredAtMs, readAtMs, settlement }
  const receipt = recorder && new ReceiptOfReply(ctx, { recorder, ...opening })
  if (receipt !== undefined && capture !== undefined)
    captureRequest({ id: receipt.id, exchange, response: ctx.res }, capture)
  const named = receipt !== undefined && recorder?.writesReceipts ? { [RECEIPT_HEADER]: receipt.id } : {}
  let settled: Readonly<Record<string, string>> | undefined
  try {
    // A payment, or a rate limit elsewhere, may have taken its time.
    exchange.signal.throwIfAborted()
    // The exchange was put into the state just above.
    await pipeline.run(ctx as unknown as PipelineContext)
    await takeFee(ctx, exchange)
    settled = await admitted.beforeReply?.(exchange)
  } catch (error) {
    receipt?.markFailed(error)
    exchange.close()
    exchange.cancelUnopened()
    // A step may have failed while the provider was still at work.
    leaving.abort(error)
    ctx.set(named)
    await (ctx.res.destroyed ? exchange.fee?.leave() : exchange.fee?.waive())
    throw error
  } finally {
    receipt?.markReplied()
  }
  const idle = idleModules(exchange.trace)
  const told = {
    ...admitted.standing,
    'x-svc-pipe': ranPipeline(),
    ...(idle !== '' && { 'x-svc-idle': idle }),
    ...named,
    ...settled,
  }
  send(ctx, exchange, { options, told })
}

/** Nobody gets an answer for free, also from a cache; and nobody pays for one that failed. */
async function takeFee(ctx: ParameterizedContext, { fee, reply }: Exchange): Promise<void> {
  if (fee === undefined) return
  const status = reply?.status ?? ctx.status
  if (status >= FIRST_ERROR) return fee.waive()
  await fee.hold()
  fee.count()
}

/** The pipeline that the client asks for. */
export function pipelineHeader({ req }: Pick<Context, 'req'>): string | undefined {
  const value = req.headers['x-svc-pipe']
  return Array.isArray(value) ? value.join(',') : value
}

function openExchange(ctx: ParameterizedContext<RequestState>, admitted: Admitted, signal: AbortSignal): Exchange {
  const { options, authenticated, pipeline, client, targets, headers } = admitted
  return new Exchange({
    id: ctx.state.requestId,
    route: options.route,
    caller: authenticated.caller,
    fee: options.fees?.of(ctx.state.requestId, authenticated.caller),
    credential: forProvider(authenticated.credential, targets[0].provider),
    headers: headers ?? ctx.req.headers,
    callerParts: options.callerParts,
    query: ctx.search,
    client,
    request: undefined,
    targets,
    signal,
    reply: undefined,
    pipeline: pipeline.printed,
    trace: [],
    edits: [],
    calls: [],
    supersededReplies: [],
  })
}

interface Sending extends Pick<Admitted, 'options'> {
  /** What headers tell of the request: its pipeline, its receipt, where the caller stands with its rate limit. */
  told: Readonly<Record<string, string>>
}

/** A module may have answered in Koa's own way, through `ctx.body`; then Koa sends that. */
function send(ctx: ParameterizedContext<RequestState>, exchange: Exchange, { options, told }: Sending): void {
  // Clients of either family look for an id of their own name.
  const id = { [options.dialect.requestIdHeader]: exchange.id }
  const headers = { ...told, 'request-id': exchange.id, ...id }
  exchange.close()
  const { reply } = exchange
  if (reply === undefined || (ctx.body !== undefined && ctx.body !== null)) {
    exchange.cancelUnopened()
    ctx.set(headers)
    return
  }
  ctx.respond = false
  if (exchange.hasPutAside) onClosed(ctx.res, () => exchange.cancelUnopened())
  sendReply(ctx.res, reply, { ...options.send, headers, dialect: options.dialect, request: exchange.client })
}

/** The pipeline that really ran: without the modules that were bypassed. */
function printRan({ trace }: Exchange, { printed }: RunnablePipeline): string {
  if (!trace.some(({ action }) => action === 'bypassed')) return printed
  const bypassed = new Set(trace.filter(({ action }) => action === 'bypassed').map(({ module }) => module))
  const ran = printed.split(',').filter((step) => !bypassed.has(step.split('?')[0] ?? ''))
  return ran.length === 0 ? 'none' : ran.join(',')
}
