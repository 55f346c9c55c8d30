import type { Middleware } from 'koa'
import { z } from 'zod'
import { contentDigest } from '../../commerce/agent-payments/codecs/digest.ts'
import { CaptureRefused } from '../../commerce/agent-payments/open-payment.ts'
import { GatewayError } from '../../core/errors.ts'
import type { SessionStanding } from '../../core/ports/payments.ts'
import { describeObject, parseFields } from '../../core/request/parse-fields.ts'
import { parseBody } from '../../dialects/scan-body.ts'
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
} from '../payment-challenge.ts'
import { PRIVATE, paymentReceipt } from '../payment-receipt.ts'
import type { RequestState } from '../request-context.ts'
import type { AgentRouteOptions } from './agent.ts'

/** Path of prepaid sessions. */
export const SESSIONS_PATH = '/v1/agent/sessions'

/** Dependencies of the routes of prepaid sessions. */
export type SessionRouteOptions = PaymentChallengeParts & Pick<AgentRouteOptions, 'prices' | 'nowMs' | 'intakes'>

/** Fewest calls of a prepaid session: together they cost at least Stripe's minimum charge. */
export const FEWEST_CALLS = 10
const MOST_CALLS = 1000
const wholeCalls = { error: `expected a whole number from ${FEWEST_CALLS} to ${MOST_CALLS}` }

/** The body of `POST /v1/agent/sessions`. */
export const sessionOrder = z.strictObject(
  { calls: z.int(wholeCalls).min(FEWEST_CALLS, wholeCalls).max(MOST_CALLS, wholeCalls).default(FEWEST_CALLS) },
  { error: describeObject },
)
const LARGEST_BODY_BYTES = 1024
const CENTS = 100
const NO_MODEL = 'session'

/**
 * `POST /v1/agent/sessions`, `{ "calls": 10 }`: sells several calls for one charge. The reply has the
 * `Authorization` value that pays for each call.
 */
export function openSessionRoute(options: SessionRouteOptions): Middleware<RequestState> {
  const { paywall, sessions, prices, nowMs, intakes } = options
  return async function openSession(ctx) {
    const presented = presentedPayment(ctx)
    await limitPresented(ctx, presented, { ...options, route: SESSIONS_PATH })
    const bytes = await intakes.strangers.read(ctx.req, {
      sender: clientSubnet(ctx.req.socket.remoteAddress),
      limitBytes: LARGEST_BODY_BYTES,
    })
    if (bytes.length > 0) assertJson(ctx.req)
    const { calls } = parseFields(sessionOrder, bytes.length === 0 ? {} : parseBody(bytes))
    const amountCents = calls * prices.sessionCallCents
    const request = { route: SESSIONS_PATH, digest: contentDigest(bytes), amountCents }
    if (isUnpaid(presented)) return sendChallenge(ctx, options, { request, ...unpaid(presented) })
    const signal = disconnectSignal(ctx.res)
    const payment = await paywall.submit(presented, { request, model: NO_MODEL, signal })
    if ('problem' in payment) return sendChallenge(ctx, options, { request, ...payment })
    try {
      signal.throwIfAborted()
      await payment.capture()
      const { challengeId, reference = '' } = payment
      const { authorization, ...standing } = await sessions.open({ challengeId, reference, calls })
      signal.throwIfAborted()
      await payment.consume()
      ctx.status = 201
      ctx.set({ 'payment-receipt': paymentReceipt(payment, nowMs()), ...PRIVATE })
      ctx.body = { ...shown(standing, prices), authorization }
    } catch (error) {
      if (!(error instanceof CaptureRefused)) throw error
      await sendChallenge(ctx, options, { request, ...NOT_CAPTURED })
    } finally {
      await payment.release()
    }
  }
}

/** `GET /v1/agent/sessions`: returns the remaining calls of the session whose credential is sent. */
export function sessionRoute(options: SessionRouteOptions): Middleware<RequestState> {
  const { sessions, prices } = options
  return async function session(ctx) {
    const presented = presentedPayment(ctx)
    await limitPresented(ctx, presented, { ...options, route: SESSIONS_PATH })
    const standing =
      presented.kind === 'session' ? await sessions.standing(presented.challenge, presented.token) : undefined
    if (standing === undefined)
      throw new GatewayError('not_found', 'There is no such session. Send its own `Authorization: Payment` value.')
    ctx.set('cache-control', 'private')
    ctx.body = shown(standing, prices)
  }
}

function shown(
  { sessionId, callsTotal, callsLeft, expiresAtMs }: SessionStanding,
  prices: SessionRouteOptions['prices'],
) {
  return {
    object: 'session',
    id: sessionId,
    calls_total: callsTotal,
    calls_remaining: callsLeft,
    price_usd_per_call: prices.sessionCallCents / CENTS,
    expires_at: new Date(expiresAtMs).toISOString(),
  }
}
