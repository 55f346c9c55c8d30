import {
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose'
import { GatewayError } from '../../core/errors.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { VerifySession } from './session.ts'
import { assertUserId, invalidToken } from './user-id.ts'

/**
 * DESIGN — session tokens
 *
 * A verifier has one kind of key, and accepts only the algorithms of that kind: a public key can never be used as a
 * shared secret (RFC 8725, 3.1). The operator pins the required claims; `exp` and the user are always required.
 * A fetched key set stays in use for a day while its issuer is down; without one no token can be verified:
 * that is the gateway's failure (503), not the caller's.
 */
export interface SessionOptions {
  /** Address of the issuer's published keys, or the shared secret. */
  readonly keys: { readonly jwksUrl: string } | { readonly secret: string }
  readonly issuer: string | undefined
  readonly audience: string | undefined
  /** Accepted values of `azp`; empty: it is not checked. */
  readonly azp: readonly string[]
  readonly userClaim: string
  readonly requiredClaims: readonly string[]
  readonly clock: Clock
  /** Time for which a fetched key set is fresh, in milliseconds; default ten minutes. */
  readonly freshMs?: number
}

const PUBLIC_KEY_ALGORITHMS = ['RS256', 'ES256', 'EdDSA']
const SECRET_ALGORITHMS = ['HS256']
const CLOCK_TOLERANCE_SECONDS = 5
const FETCH_TIMEOUT_MS = 2000
/** Shortest time between two fetches for unknown key ids. */
const FETCH_PAUSE_MS = 30_000
const FRESH_MS = 10 * 60_000
const STALE_MS = 24 * 60 * 60_000
const LONGEST_TOKEN = 16_384

/** Creates the verifier of session tokens. */
export function createSessionVerifier(options: SessionOptions): VerifySession {
  const { keys, issuer, audience, userClaim, requiredClaims, clock } = options
  const isShared = 'secret' in keys
  const getKey = isShared ? sharedKey(keys.secret) : remoteKeys(keys.jwksUrl, options)
  const pinned: JWTVerifyOptions = {
    algorithms: isShared ? SECRET_ALGORITHMS : PUBLIC_KEY_ALGORITHMS,
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
    requiredClaims: ['exp', userClaim, ...requiredClaims],
    ...(issuer !== undefined && { issuer }),
    ...(audience !== undefined && { audience }),
  }
  return async function verifySession(token) {
    if (token.length > LONGEST_TOKEN) throw invalidToken('it is too long')
    const now = { ...pinned, currentDate: new Date(clock.nowMs()) }
    try {
      const { payload } = await jwtVerify(token, getKey, now)
      return { userId: userOf(payload, options), claims: payload }
    } catch (error) {
      throw error instanceof GatewayError ? error : invalidToken(reasonOf(error), error)
    }
  }
}

function sharedKey(secret: string): JWTVerifyGetKey {
  const key = Buffer.from(secret)
  return async () => key
}

/** Returns the issuer's keys, fetched when needed. */
function remoteKeys(jwksUrl: string, { clock, freshMs = FRESH_MS }: SessionOptions): JWTVerifyGetKey {
  const remote = createRemoteJWKSet(new URL(jwksUrl), {
    timeoutDuration: FETCH_TIMEOUT_MS,
    cooldownDuration: FETCH_PAUSE_MS,
    cacheMaxAge: freshMs,
  })
  let freshAtMs = 0
  return async (header, token) => {
    try {
      const key = await remote(header, token)
      freshAtMs = clock.nowMs()
      return key
    } catch (error) {
      if (isAboutToken(error)) throw error
      const last = remote.jwks()
      if (last !== undefined && clock.nowMs() - freshAtMs < STALE_MS) return createLocalJWKSet(last)(header, token)
      throw new GatewayError('service_unavailable', 'The keys of the session tokens’ issuer cannot be fetched.', {
        cause: error,
      })
    }
  }
}

/** Returns true when the key set was available and has no key for this token. */
function isAboutToken(error: unknown): boolean {
  return (
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys ||
    error instanceof errors.JOSENotSupported
  )
}

/** Roles of tokens without a person behind them, such as the public key of a Supabase project. */
const NO_PERSON = new Set<unknown>(['anon', 'service_role'])

function userOf(claims: JWTPayload, { azp, userClaim }: SessionOptions): string {
  if (azp.length > 0 && !azp.includes(String(claims.azp)))
    throw invalidToken('its `azp` is not one of those accepted here')
  // Clerk: the user has signed in and has a pending task, such as choosing an organization.
  if (claims.sts === 'pending') throw invalidToken('its session is still pending')
  if (NO_PERSON.has(claims.role)) throw invalidToken('it names no user')
  return assertUserId(claims[userClaim], userClaim)
}

/** Returns why a token is invalid, without quoting it. */
function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'it has expired'
  if (error instanceof errors.JWTClaimValidationFailed)
    return error.reason === 'missing' ? `it has no \`${error.claim}\`` : `its \`${error.claim}\` is not accepted here`
  if (error instanceof errors.JOSEAlgNotAllowed) return 'its algorithm is not accepted here'
  return 'it is malformed, or was not signed by the expected issuer'
}
