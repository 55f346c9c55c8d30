import { performance } from 'node:perf_hooks'
import type { Middleware, ParameterizedContext } from 'koa'
import { GatewayError } from '../../core/errors.ts'
import { type PaymentCredential, type PresentedPayment, parsePayment } from '../../payments/codecs/credential.ts'
import { contentDigest } from '../../payments/codecs/digest.ts'
import { assertCovered, type CoverageOptions, coverageOf } from '../../payments/coverage.ts'
import type { LateCalls } from '../../payments/late-calls.ts'
import { CaptureRefused, type Payable } from '../../payments/open-payment.ts'
import { declined, type Paywall, type PricedRequest, type Refused } from '../../payments/paywall.ts'
import type { Sessions } from '../../payments/sessions.ts'
import type { ChallengeLimiter } from '../challenge-limiter.ts'
import { disconnectSignal } from '../client-disconnect.ts'
import { clientSubnet } from '../client-subnet.ts'
import { assertJson } from '../content-type.ts'
import type { RequestState } from '../request-context.ts'
import type { RunningRequests } from '../running-requests.ts'
import { admitPaid, type Call, type PaidAnswerOptions, repeat, repetitionOf } from './agent-answer.ts'
import { answer, type ModelRouteOptions, parseBody, pipelineHeader } from './model.ts'

/** The path of paid calls. */
export const AGENT_PATH = '/v1/agent/messages'

/** Prices, in cents. */
export interface TollPrices {
  readonly callCents: number
  /** Of a call that is one of several paid at once. */
  readonly sessionCallCents: number
}

/** What the route of paid calls is made from. */
export interface AgentRouteOptions
  extends PaidAnswerOptions,
    Pick<ModelRouteOptions, 'targetsOf' | 'pipelines' | 'intakes'> {
  readonly paywall: Paywall
  readonly sessions: Sessions
  readonly challengeLimiter: ChallengeLimiter
  readonly coverage: CoverageOptions
  readonly prices: TollPrices
  readonly late: LateCalls
  /** Calls of sessions without a stream, which may all be late together. */
  readonly running: RunningRequests
}

/**
 * `POST /v1/agent/messages`: a model request that is paid for by itself (specification, 4.2). Body and price are checked
 * first; money is held next; it is taken when there is an answer, and only then does the answer go out.
 */
export function agentRoute(options: AgentRouteOptions): Middleware<RequestState> {
  const { paywall, dialect, prices } = options
  return async function agent(ctx) {
    ctx.state.dialect = dialect
    ctx.state.partialRequest = { route: 'agent', dialect: dialect.name }
    const enteredAtMs = performance.now()
    const presented = presentedPayment(ctx)
    await admitPresented(ctx, presented, { ...options, route: AGENT_PATH })
    const bytes = await readAgentBody(ctx, presented, options)
    const readAtMs = performance.now()
    const request = { route: AGENT_PATH, digest: contentDigest(bytes), amountCents: prices.callCents }
    // Who only asks for the price need not have a request yet.
    if (bytes.length === 0 && isUnpaid(presented)) return refuse(ctx, options, { request, ...unpaid(presented) })
    const isOfSession = presented.kind === 'session'
    const amountCents = isOfSession ? prices.sessionCallCents : prices.callCents
    const call = openCall(ctx, { options, bytes, amountCents })
    if (isUnpaid(presented)) return refuse(ctx, options, { request, ...unpaid(presented) })
    const { id: paymentId } = presented.challenge
    const { document } = call.client
    const repetition = isOfSession ? undefined : repetitionOf(ctx, presented)
    const taken = isOfSession
      ? await takeCall(presented, options)
      : await submit(ctx, presented, { paywall, request, call })
    if ('problem' in taken) {
      const again = taken.isDelivered && repetition && (await options.delivered.find(repetition))
      return again ? repeat(ctx, again, { options, client: call.client }) : refuse(ctx, options, { request, ...taken })
    }
    const { token } = presented
    const paid = { options, call, payment: taken, token, amountCents, repetition, enteredAtMs, readAtMs }
    try {
      if (isOfSession && !document.stream) options.running.enter(paymentId, ctx.res)
      // Money that is taken already is owed an answer.
      if (isOfSession || taken.state !== 'captured') options.late.assertInTime(paymentId, document)
      await answer(ctx, admitPaid(ctx, paid))
    } catch (error) {
      if (!document.stream) options.late.note(paymentId, error)
      if (!(error instanceof CaptureRefused)) throw error
      await refuse(ctx, options, { request, ...NOT_CAPTURED })
    } finally {
      await (hasLeft(ctx) ? taken.leave() : taken.release())
    }
  }
}

/** Whether the client left after the provider was asked, which bills for that. */
function hasLeft({ res, state }: ParameterizedContext<RequestState>): boolean {
  return state.exchange?.isAsked === true && res.destroyed && !res.writableFinished
}

/** The answer to a payer whose held money could not be taken. */
export const NOT_CAPTURED = declined('the held money could not be taken')

/** Reads what a request says about payment. Throws `invalid_request` for several credentials. */
export function presentedPayment({
  req,
}: Pick<ParameterizedContext, 'req'>): Exclude<PresentedPayment, { kind: 'several' }> {
  const presented = parsePayment(req.headersDistinct.authorization ?? [])
  if (presented.kind !== 'several') return presented
  throw new GatewayError('invalid_request', 'Expected one `Authorization: Payment` header, got several.')
}

type Unpaid = Extract<PresentedPayment, { kind: 'none' | 'malformed' }>

/** Counts a request by whoever sends it, before it is worked on. Throws `rate_limit_error`. */
export async function admitPresented(
  { req }: Pick<ParameterizedContext, 'req'>,
  presented: PresentedPayment,
  {
    challengeLimiter,
    paywall,
    sessions,
    route,
  }: Pick<AgentRouteOptions, 'challengeLimiter' | 'paywall' | 'sessions'> & { route: string },
): Promise<void> {
  if (presented.kind === 'session' && sessions.recognises(presented.challenge))
    return challengeLimiter.admitCall(presented.challenge.id)
  if (presented.kind === 'payment' && paywall.recognises(presented.challenge, route))
    return challengeLimiter.admitSubmit(presented.challenge.id)
  await challengeLimiter.admit(req)
}

/**
 * Reads a body: of a session that has not ended like a caller's, of everybody else like a stranger's. A challenge is free,
 * so holding one is no payment; the body that it is bound to was within the stranger's limit.
 */
function readAgentBody(
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

/** Whether there is no credential, or none that can be read. */
export function isUnpaid(presented: PresentedPayment): presented is Unpaid {
  return presented.kind === 'none' || presented.kind === 'malformed'
}

/** Why a request without a credential that can be read is not served. */
export function unpaid(presented: Unpaid): Refused {
  if (presented.kind === 'none')
    return { problem: 'payment-required', detail: 'This call is paid for with `Authorization: Payment`.' }
  return { problem: 'malformed-credential', detail: `The payment credential cannot be read: ${presented.reason}.` }
}

/** Sends a payment problem with a fresh challenge for the same request. Throws `rate_limit_error`. */
export async function refuse(
  ctx: ParameterizedContext<RequestState>,
  { paywall, challengeLimiter }: Pick<AgentRouteOptions, 'paywall' | 'challengeLimiter'>,
  { request, ...refused }: { request: PricedRequest } & Refused,
): Promise<void> {
  await challengeLimiter.admit(ctx.req)
  const { body, challenge } = await paywall.refuse(request, refused)
  ctx.status = body.status
  ctx.set({ 'www-authenticate': challenge, 'cache-control': 'no-store' })
  ctx.type = 'application/problem+json'
  ctx.body = JSON.stringify(body)
}

/** Checks all that can be checked without money. Throws `invalid_request`, `unsupported_media_type`, `price_too_low`. */
function openCall(
  ctx: ParameterizedContext<RequestState>,
  { options, bytes, amountCents }: { options: AgentRouteOptions; bytes: Buffer; amountCents: number },
): Call {
  assertJson(ctx.req)
  const { coverage, prices, nowMs } = options
  const partialRequest = ctx.state.partialRequest ?? {}
  const client = parseBody(bytes, options.dialect, partialRequest)
  partialRequest.model = client.document.model
  const targets = options.targetsOf(client.document.model)
  const pipeline = options.pipelines.for(pipelineHeader(ctx))
  const call = { request: client.canonical, targets, client }
  // A call that costs a tenth covers a tenth.
  const coversNanoUsd = Math.floor((coverage.coversNanoUsd * amountCents) / prices.callCents)
  assertCovered(coverageOf(call, { ...coverage, coversNanoUsd, atMs: nowMs() }))
  return { client, targets, pipeline }
}

async function submit(
  ctx: ParameterizedContext<RequestState>,
  presented: PaymentCredential,
  { paywall, request, call }: { paywall: Paywall; request: PricedRequest; call: Call },
): Promise<Payable | Refused> {
  const { model } = call.client.document
  return paywall.submit(presented, { request, model, signal: disconnectSignal(ctx.res) })
}

async function takeCall(
  { challenge, token }: PaymentCredential,
  { sessions }: AgentRouteOptions,
): Promise<Payable | Refused> {
  const taken = await sessions.take(challenge, token)
  return typeof taken === 'string' ? { problem: 'invalid-challenge', detail: taken } : taken
}
