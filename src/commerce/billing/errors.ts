import { GatewayError } from '../../core/errors.ts'

/** What Stripe's errors have, as far as it is looked at. Its classes are not loaded for that. */
export interface StripeFault extends Error {
  /** Name of its class, `StripeCardError`. */
  readonly type: string
  readonly code?: string
  readonly decline_code?: string
  readonly param?: string
  readonly requestId?: string
  readonly statusCode?: number
  readonly payment_intent?: { readonly id: string }
}

/** Whether Stripe, or the way to it, has thrown this. */
export function isStripeFault(error: unknown): error is StripeFault {
  return error instanceof Error && 'type' in error && String(error.type).startsWith('Stripe')
}

/** Whether Stripe says that there is no such object (any more). */
export function isMissing(error: unknown): boolean {
  return isStripeFault(error) && error.code === 'resource_missing'
}

/** What a log may tell of an error: Stripe's request id finds it in Stripe's own log. Never the message, which may quote a key. */
export function faultFields(error: unknown): object {
  if (!isStripeFault(error)) return { err: error }
  const { type, code, decline_code: declineCode, param, requestId, statusCode } = error
  return { stripe: { type, code, declineCode, param, requestId, statusCode } }
}

const CONFIGURATION = new Set(['StripeAuthenticationError', 'StripePermissionError'])
const PASSING = new Set(['StripeConnectionError', 'StripeAPIError', 'StripeRateLimitError'])
const ADDRESSES = /(?:success|cancel|return)_url/

/** Nothing can be bought here, and what an operator has to do about it. */
export function notConfigured(what: string, detail = 'billing_not_configured:checkout', cause?: unknown): GatewayError {
  return new GatewayError('not_configured', what, { detail, ...(cause !== undefined && { cause }) })
}

/** What a client is told of an error of Stripe. */
export function toGatewayError(error: unknown): unknown {
  if (!isStripeFault(error)) return error
  const { type, param, requestId } = error
  // Its own words may hold parts of the key: they stay out of answers and logs.
  const cause = new Error(`${type} ${error.code ?? ''} ${param ?? ''} (${requestId ?? 'no request id'})`)
  if (PASSING.has(type))
    return new GatewayError('service_unavailable', 'The payment provider does not answer at the moment.', { cause })
  if (CONFIGURATION.has(type)) return notConfigured('The payment provider refuses the key.', undefined, cause)
  if (type === 'StripeInvalidRequestError' && param !== undefined && ADDRESSES.test(param))
    return new GatewayError('invalid_request', `The payment provider refuses the address given as ${param}.`, { cause })
  return new GatewayError('internal_error', 'The payment provider refused what the gateway asked.', { cause })
}
