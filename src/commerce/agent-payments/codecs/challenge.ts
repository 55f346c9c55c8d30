import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * A challenge of the `Payment` scheme (draft-httpauth-payment, section 5.1), as in `WWW-Authenticate` and as a
 * credential repeats it. `request` and `opaque` are base64url of canonical JSON (RFC 8785).
 */
export interface Challenge {
  /** HMAC of all other members except `description`. */
  readonly id: string
  /** Host name of the service. */
  readonly realm: string
  readonly method: string
  readonly intent: string
  readonly request: string
  /** RFC 3339. */
  readonly expires?: string | undefined
  /** RFC 9530 digest of the body that is paid for. */
  readonly digest?: string | undefined
  /** For people; not bound to the id. */
  readonly description?: string | undefined
  readonly opaque?: string | undefined
}

/** A challenge before it has its id. */
export type UnsignedChallenge = Omit<Challenge, 'id'>

/** Binds a challenge to its id: 43 characters of base64url (draft-httpauth-payment, section 5.1.1). */
export function challengeId(challenge: UnsignedChallenge, secret: string): string {
  const { realm, method, intent, request, expires = '', digest = '', opaque = '' } = challenge
  const slots = [realm, method, intent, request, expires, digest, opaque]
  return createHmac('sha256', secret).update(slots.join('|')).digest('base64url')
}

/** Returns true when a challenge was signed with this secret and is unchanged, except for its description. */
export function isSignedWith(challenge: Challenge, secret: string): boolean {
  const expected = Buffer.from(challengeId(challenge, secret))
  const given = Buffer.from(challenge.id)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

/** Order of the parameters in clients' own output. */
const PARAMETERS = [
  'id',
  'realm',
  'method',
  'intent',
  'request',
  'description',
  'digest',
  'expires',
  'opaque',
] as const satisfies readonly (keyof Challenge)[]

/** Characters of a quoted string: printable ASCII (RFC 9110, section 5.6.4, without its obsolete part). */
const PRINTABLE = /^[ -~]*$/

/** Prints a challenge as the value of `WWW-Authenticate` (RFC 9110, section 11). Throws `TypeError` for a value that no header can hold. */
export function printChallenge(challenge: Challenge): string {
  const printed = PARAMETERS.flatMap((name) => {
    const value = challenge[name]
    return value === undefined ? [] : [`${name}=${quoted(value)}`]
  })
  return `Payment ${printed.join(', ')}`
}

function quoted(value: string): string {
  if (!PRINTABLE.test(value)) throw new TypeError(`A header cannot hold ${JSON.stringify(value)}.`)
  return `"${value.replace(/["\\]/g, '\\$&')}"`
}
