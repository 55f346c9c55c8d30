import { performance } from 'node:perf_hooks'
import type { Middleware, ParameterizedContext } from 'koa'
import { awaitFirstEvent } from '../../commerce/agent-payments/await-first-event.ts'
import type { PaymentCredential, PresentedPayment } from '../../commerce/agent-payments/codecs/credential.ts'
import { contentDigest } from '../../commerce/agent-payments/codecs/digest.ts'
import { assertCovered, type CoverageOptions, coverageOf } from '../../commerce/agent-payments/coverage.ts'
import type { DeliveredAnswers, Repetition } from '../../commerce/agent-payments/delivered.ts'
import type { LateCalls } from '../../commerce/agent-payments/late-calls.ts'
import { CaptureRefused, type Payable } from '../../commerce/agent-payments/open-payment.ts'
import { agentScope, type PricedRequest, type Refused } from '../../commerce/agent-payments/paywall.ts'
import { GatewayError } from '../../core/errors.ts'
import type { ClientRequest } from '../../core/request/client-request.ts'
import type { Exchange, Target } from '../../core/request/exchange.ts'
import type { PartialRequest } from '../../core/request/partial-request.ts'
import type { RunnablePipeline } from '../../pipeline/pipelines.ts'
import { type AnswerOptions, answer } from '../answer.ts'
import { disconnectSignal } from '../client-disconnect.ts'
import { clientSubnet } from '../client-subnet.ts'
import { assertJson } from '../content-type.ts'
import {
  isUnpaid,
  limitPresented,
  NOT_CAPTURED,
  type PaymentChallengeParts,
  presentedPayment,
  sendChallenge,
  unpaid,
  withoutCredential,
} from '../payment-challenge.ts'
import { PRIVATE, paymentReceipt, paymentSettlement } from '../payment-receipt.ts'
import { repetitionOf, sendRepeated } from '../repeated-answer.ts'
import type { RequestState } from '../request-context.ts'
import type { RunningRequests } from '../running-requests.ts'
import { type ModelRouteOptions, parseBody, pipelineHeader } from './model.ts'

/** Path of paid calls. */
export const AGENT_PATH = '/v1/agent/messages'

/** Prices, in cents. */
export interface AgentPrices {
  readonly callCents: number
  /** Price of one call of a prepaid session. */
  readonly sessionCallCents: number
}

/** Input of `agentRoute`. */
export interface AgentRouteOptions
  extends PaymentChallengeParts,
    Pick<AnswerOptions, 'dialect' | 'recorder' | 'send' | 'callerParts' | 'conversations'>,
    Pick<ModelRouteOptions, 'targetsOf' | 'pipelines' | 'intakes'> {
  readonly coverage: CoverageOptions
  readonly prices: AgentPrices
  readonly delivered: DeliveredAnswers
  readonly late: LateCalls
  /** Counts in-flight calls of prepaid sessions without a stream, which may all be captured late. */
  readonly running: RunningRequests
  /** Wall-clock time in milliseconds since 1970. */
  readonly nowMs: () => number
}

/**
 * DESIGN — a paid call
 *
 * `POST /v1/agent/messages` is the model route with a payment around its pipeline (specification, 4.2):
 *
 *   challenge   without a credential: 402, with a challenge for this body and price
 *   admitted    counted, read, and checked as far as possible without money
 *   claimed     the credential is locked to this request: the money is held, or a call of its session
 *   answered    the pipeline has a reply, and a stream has begun
 *   captured    the money is taken
 *   consumed    the credential is used up: now, and only now, the answer is sent
 *
 * A failure before `captured` costs nothing: the claim is released, and the same credential may be sent again.
 */
export function agentRoute(options: AgentRouteOptions): Middleware<RequestState> {
  return async function agent(ctx) {
    const call = await admit(ctx, options)
    if (call === undefined) return
    const payment = await claim(ctx, call, options)
    if (payment === undefined) return
    const { client, isOfSession, paymentId } = call
    try {
      if (isOfSession && !client.document.stream) options.running.enter(paymentId, ctx.res)
      // Captured money is owed a reply.
      if (isOfSession || payment.state !== 'captured') options.late.assertInTime(paymentId, client.document)
      await answerPaid(ctx, { call, payment, options })
    } catch (error) {
      if (!client.document.stream) options.late.note(paymentId, error)
      if (!(error instanceof CaptureRefused)) throw error
      await sendChallenge(ctx, options, { request: call.request, ...NOT_CAPTURED })
    } finally {
      await (hasLeft(ctx) ? payment.leave() : payment.release())
    }
  }
}

/** A call with a credential that has passed all checks which need no money. */
interface PaidCall {
  readonly client: ClientRequest
  readonly targets: readonly [Target, ...Target[]]
  readonly pipeline: RunnablePipeline
  /** The request that the challenge is bound to. */
  readonly request: PricedRequest
  readonly credential: PaymentCredential
  readonly isOfSession: boolean
  /** Id of the challenge or the session. */
  readonly paymentId: string
  readonly amountCents: number
  /** Set when the client may retry to get the stored reply. */
  readonly repetition: Repetition | undefined
  readonly enteredAtMs: number
  readonly readAtMs: number
}

/** Step "challenge" or "admitted". Sends the challenge and returns `undefined` when there is no credential. */
async function admit(
  ctx: ParameterizedContext<RequestState>,
  options: AgentRouteOptions,
): Promise<PaidCall | undefined> {
  const { dialect, prices } = options
  const enteredAtMs = performance.now()
  const partialRequest: PartialRequest = { route: 'agent', dialect: dialect.name }
  ctx.state.dialect = dialect
  ctx.state.partialRequest = partialRequest
  const presented = presentedPayment(ctx)
  await limitPresented(ctx, presented, { ...options, route: AGENT_PATH })
  const bytes = await readBody(ctx, presented, options)
  const readAtMs = performance.now()
  const request = { route: AGENT_PATH, digest: contentDigest(bytes), amountCents: prices.callCents }
  // A request without a body gets the price.
  if (bytes.length === 0 && isUnpaid(presented)) {
    await sendChallenge(ctx, options, { request, ...unpaid(presented) })
    return undefined
  }
  const isOfSession = presented.kind === 'session'
  const amountCents = isOfSession ? prices.sessionCallCents : prices.callCents
  assertJson(ctx.req)
  const client = parseBody(bytes, dialect, partialRequest)
  partialRequest.model = client.document.model
  const targets = options.targetsOf(client.document.model)
  const pipeline = options.pipelines.for(pipelineHeader(ctx))
  assertPriceCovers({ client, targets, amountCents }, options)
  if (isUnpaid(presented)) {
    await sendChallenge(ctx, options, { request, ...unpaid(presented) })
    return undefined
  }
  const repetition = isOfSession ? undefined : repetitionOf(ctx, presented)
  const { id: paymentId } = presented.challenge
  return {
    client,
    targets,
    pipeline,
    request,
    credential: presented,
    isOfSession,
    paymentId,
    amountCents,
    repetition,
    enteredAtMs,
    readAtMs,
  }
}

/**
 * Reads a body: for a session that has not ended within the limits of callers, for any other within those of strangers.
 * Challenges are free, so having one is no payment; the body that it is bound to was within the limits of strangers.
 */
function readBody(
  { req }: Pick<ParameterizedContext, 'req'>,
  presented: PresentedPayment,
  { intakes, sessions, nowMs }: Pick<AgentRouteOptions, 'intakes' | 'sessions' | 'nowMs'>,
): Promise<Buffer> {
  if (presented.kind === 'session' && sessions.recognises(presented.challenge)) {
    const { id, expires = '' } = presented.challenge
    if (Date.parse(expires) > nowMs()) return intakes.callers.read(req, { sender: `session:${id}` })
  }
  return intakes.strangers.read(req, { sender: clientSubnet(req.socket.remoteAddress) })
}

/** Throws `price_too_low` when the call may cost the operator more than its price covers. */
function assertPriceCovers(
  { client, targets, amountCents }: Pick<PaidCall, 'client' | 'targets' | 'amountCents'>,
  { coverage, prices, nowMs }: AgentRouteOptions,
): void {
  // A call at a tenth of the price covers a tenth of the cost.
  const coversNanoUsd = Math.floor((coverage.coversNanoUsd * amountCents) / prices.callCents)
  const call = { request: client.canonical, targets, client }
  assertCovered(coverageOf(call, { ...coverage, coversNanoUsd, atMs: nowMs() }))
}

/**
 * Step "claimed". Returns `undefined` when the credential does not pay for this call: a reply that it has already paid
 * for is sent again, anything else gets a fresh challenge.
 */
async function claim(
  ctx: ParameterizedContext<RequestState>,
  call: PaidCall,
  options: AgentRouteOptions,
): Promise<Payable | undefined> {
  const { client, request, credential, isOfSession, repetition } = call
  const claimed = isOfSession
    ? await takeSessionCall(credential, options)
    : await options.paywall.submit(credential, {
        request,
        model: client.document.model,
        signal: disconnectSignal(ctx.res),
      })
  if (!('problem' in claimed)) return claimed
  const delivered = claimed.isDelivered && repetition && (await options.delivered.find(repetition))
  if (delivered) sendRepeated(ctx, delivered, { options, client })
  else await sendChallenge(ctx, options, { request, ...claimed })
  return undefined
}

async function takeSessionCall(
  { challenge, token }: PaymentCredential,
  { sessions }: AgentRouteOptions,
): Promise<Payable | Refused> {
  const taken = await sessions.take(challenge, token)
  return typeof taken === 'string' ? { problem: 'invalid-challenge', detail: taken } : taken
}

interface Paid {
  readonly call: PaidCall
  readonly payment: Payable
  readonly options: AgentRouteOptions
}

const PAID = { header: 'payment', secret: '' } as const

/** Replies like the model route, with the payment around the pipeline. Bodies of agents are never captured. */
function answerPaid(ctx: ParameterizedContext<RequestState>, paid: Paid): Promise<void> {
  const { call, payment, options } = paid
  return answer(ctx, {
    ...call,
    options: { ...options, route: 'agent', quotaCharges: undefined, capture: undefined, inFlight: undefined },
    authenticated: { caller: { kind: 'agent', scope: agentScope(call.credential.token) }, credential: PAID },
    rateLimitStatus: {},
    headers: withoutCredential(ctx.req),
    payment: (exchange, next) => capture(ctx, { ...paid, exchange, next }),
    settlement: () => (isFree(ctx.state.exchange, payment) ? undefined : paymentSettlement(payment, call.amountCents)),
  })
}

/**
 * Steps "answered", "captured", "consumed". Returns the payment's headers; removes contradicting headers of the
 * provider.
 */
async function capture(
  ctx: ParameterizedContext<RequestState>,
  { call, payment, options, exchange, next }: Paid & { exchange: Exchange; next: () => Promise<void> },
): Promise<Record<string, string>> {
  await next()
  const { reply } = exchange
  const status = reply?.status ?? ctx.status
  if (status >= 400) {
    assertForPayer(status)
    return {}
  }
  if (reply?.kind === 'stream') exchange.reply = await awaitFirstEvent(reply, exchange.signal)
  for (const name of ['cache-control', 'payment-receipt', 'www-authenticate']) delete exchange.reply?.headers[name]
  try {
    exchange.signal.throwIfAborted()
    await payment.capture()
    exchange.signal.throwIfAborted()
    const receipt = { 'payment-receipt': paymentReceipt(payment, options.nowMs()) }
    // Before the payment is used up: after that, only a stored reply can be sent again.
    if (call.repetition !== undefined && exchange.reply !== undefined)
      await options.delivered.keep(call.repetition, exchange.reply, receipt)
    if (!isFree(exchange, payment)) await payment.consume()
    return { ...receipt, ...PRIVATE }
  } catch (error) {
    exchange.reply?.cancel()
    throw error
  }
}

/** Returns whether the client disconnected after the provider was called, which bills for the call. */
function hasLeft({ res, state }: ParameterizedContext<RequestState>): boolean {
  return state.exchange?.isAsked === true && res.destroyed && !res.writableFinished
}

/** Cache scopes that contain the payer's own replies only: a token counts as a key, and has no user. */
const OWN_SCOPES: ReadonlySet<unknown> = new Set(['key', 'user'])

/** Returns whether a call is free: a cache hit on the payer's own earlier call uses up no call of a session. */
function isFree(exchange: Exchange | undefined, { externalId }: Payable): boolean {
  if (externalId === undefined || exchange === undefined || exchange.isAsked) return false
  return exchange.trace.some(({ action, details }) => action === 'hit' && OWN_SCOPES.has(details?.scope))
}

/** Statuses about the operator's account with the provider, which a payer would mistake for its own. */
const OPERATOR_ACCOUNT_STATUSES = new Set([401, 402, 403])

function assertForPayer(status: number): void {
  if (!OPERATOR_ACCOUNT_STATUSES.has(status)) return
  throw new GatewayError('upstream_error', `The provider refused the call (${status}). Nothing was charged.`)
}
