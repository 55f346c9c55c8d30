import type { IncomingMessage } from 'node:http'
import type { ParameterizedContext } from 'koa'
import { type PresentedPayment, parsePayment } from '../commerce/agent-payments/codecs/credential.ts'
import { declined, type Paywall, type PricedRequest, type Refused } from '../commerce/agent-payments/paywall.ts'
import type { Sessions } from '../commerce/agent-payments/sessions.ts'
import { GatewayError } from '../core/errors.ts'
import type { ChallengeLimiter } from './challenge-limiter.ts'
import type { RequestState } from './request-context.ts'

/** Dependencies of the payment challenge. */
export interface PaymentChallengeParts {
  readonly paywall: Paywall
  readonly sessions: Sessions
  readonly challengeLimiter: ChallengeLimiter
}

/** A request whose payment credential is missing or malformed. */
export type Unpaid = Extract<PresentedPayment, { kind: 'none' | 'malformed' }>

/** Refusal of a payment whose capture failed. */
export const NOT_CAPTURED = declined('the held money could not be taken')

/** Reads the payment credential of a request. Throws `invalid_request` for several. */
export function presentedPayment({
  req,
}: Pick<ParameterizedContext, 'req'>): Exclude<PresentedPayment, { kind: 'several' }> {
  const presented = parsePayment(req.headersDistinct.authorization ?? [])
  if (presented.kind !== 'several') return presented
  throw new GatewayError('invalid_request', 'Expected one `Authorization: Payment` header, got several.')
}

/**
 * Counts a request before any work is done for it: by its prepaid session or challenge if this gateway issued it,
 * otherwise by subnet. Throws `rate_limit_error`.
 */
export async function limitPresented(
  { req }: Pick<ParameterizedContext, 'req'>,
  presented: PresentedPayment,
  { challengeLimiter, paywall, sessions, route }: PaymentChallengeParts & { route: string },
): Promise<void> {
  if (presented.kind === 'session' && sessions.recognises(presented.challenge))
    return challengeLimiter.admitCall(presented.challenge.id)
  if (presented.kind === 'payment' && paywall.recognises(presented.challenge, route))
    return challengeLimiter.admitSubmit(presented.challenge.id)
  await challengeLimiter.admit(req)
}

/** Returns whether the payment credential is missing or malformed. */
export function isUnpaid(presented: PresentedPayment): presented is Unpaid {
  return presented.kind === 'none' || presented.kind === 'malformed'
}

/** Returns the refusal of a request whose credential is missing or malformed. */
export function unpaid(presented: Unpaid): Refused {
  if (presented.kind === 'none')
    return { problem: 'payment-required', detail: 'This call is paid for with `Authorization: Payment`.' }
  return { problem: 'malformed-credential', detail: `The payment credential cannot be read: ${presented.reason}.` }
}

/** Answers 402 with a fresh challenge for the same request. Throws `rate_limit_error`. */
export async function sendChallenge(
  ctx: ParameterizedContext<RequestState>,
  { paywall, challengeLimiter }: Pick<PaymentChallengeParts, 'paywall' | 'challengeLimiter'>,
  { request, ...refused }: { request: PricedRequest } & Refused,
): Promise<void> {
  await challengeLimiter.admit(ctx.req)
  const { body, challenge } = await paywall.refuse(request, refused)
  ctx.status = body.status
  ctx.set({ 'www-authenticate': challenge, 'cache-control': 'no-store' })
  ctx.type = 'application/problem+json'
  ctx.body = JSON.stringify(body)
}

/** Returns the headers that plugins and providers may see: without the payment and the idempotency key. */
export function withoutCredential({ headers }: IncomingMessage): NodeJS.Dict<string | string[]> {
  const { authorization: _, 'idempotency-key': __, ...rest } = headers
  return rest
}
