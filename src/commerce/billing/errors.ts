import { GatewayError } from '../../core/errors.ts'

/** The members of Stripe's errors that are read. Stripe's classes are not loaded for that. */
export interface StripeFault extends Error {
  /** Name of the error's class, `StripeCardError`. */
  readonly type: string
  readonly code?: string
  readonly decline_code?: string
  readonly param?: string
  readonly requestId?: string
  readonly statusCode?: number
  readonly payment_intent?: { readonly id: string }
}

/** Returns true for an error of Stripe or of the connection to it. */
export function isStripeFault(error: unknown): error is StripeFault {
  return error instanceof Error && 'type' in error && String(error.type).startsWith('Stripe')
}

/** Returns true when Stripe reports that the object does not exist (any more). */
export function isMissing(error: unknown): boolean {
  return isStripeFault(error) && error.code === 'resource_missing'
}

/** Returns the fields of an error that may be logged: Stripe's request id finds it in Stripe's own log. Never the message, which may quote a key. */
export function faultFields(error: unknown): object {
  if (!isStripeFault(error)) return { err: error }
  const { type, code, decline_code: declineCode, param, requestId, statusCode } = error
  return { stripe: { type, code, declineCode, param, requestId, statusCode } }
}

const CONFIGURATION = new Set(['StripeAuthenticationError', 'StripePermissionError'])
const PASSING = new Set(['StripeConnectionError', 'StripeAPIError', 'StripeRateLimitError'])
const ADDRESSES = /(?:success|cancel|return)_url/

/** Creates the error for missing billing configuration, with the operator's remedy. */
export function notConfigured(what: string, detail = 'billing_not_configured:checkout', cause?: unknown): GatewayError {
  return new GatewayError('not_configured', what, { detail, ...(cause !== undefined && { cause }) })
}

/** Converts an error of Stripe to the error that the client receives. */
export function toGatewayError(error: unknown): unknown {
  if (!isStripeFault(error)) return error
  const { type, param, requestId } = error
  // Stripe's message may contain parts of the key: it stays out of replies and logs.
  const cause = new Error(`${type} ${error.code ?? ''} ${param ?? ''} (${requestId ?? 'no request id'})`)
  if (PASSING.has(type))
    return new GatewayError('service_unavailable', 'The payment provider does not answer at the moment.', { cause })
  if (CONFIGURATION.has(type)) return notConfigured('The payment provider refuses the key.', undefined, cause)
  if (type === 'StripeInvalidRequestError' && param !== undefined && ADDRESSES.test(param))
    return new GatewayError('invalid_request', `The payment provider refuses the address given as ${param}.`, { cause })
  return new GatewayError('internal_error', 'The payment provider refused the gateway’s request.', { cause })
}
