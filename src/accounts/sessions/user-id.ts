import { GatewayError } from '../../core/errors.ts'

const LONGEST_USER_ID = 255
/** Control characters and lone surrogates, which databases refuse. */
const NOT_TEXT = /[\p{Cc}\p{Cs}]/u

/** Returns a claim's value that can identify a user. Throws `authentication_error`. */
export function assertUserId(value: unknown, claim: string): string {
  if (typeof value === 'string' && value !== '' && value.length <= LONGEST_USER_ID && !NOT_TEXT.test(value))
    return value
  throw invalidToken(`its \`${claim}\` is no user’s id`)
}

/** Creates the error for a session token that is not accepted; `reason` does not quote it. */
export function invalidToken(reason: string, cause?: unknown): GatewayError {
  return new GatewayError('authentication_error', `The session token is not valid: ${reason}.`, { cause })
}
