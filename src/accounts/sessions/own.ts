import { GatewayError } from '../../core/errors.ts'
import type { SignInStore } from '../../core/ports/sign-in.ts'
import { hashOf, isSessionToken, looksLikeSession } from '../sign-in/secrets.ts'
import type { VerifySession } from './session.ts'

/**
 * Creates the verifier of both kinds of sessions: those of the gateway’s own, looked up at each request, so that an end
 * applies to the next one on all processes; and tokens of an issuer, where one is configured.
 */
export function createAnyVerifier(store: Pick<SignInStore, 'use'>, verifyToken?: VerifySession): VerifySession {
  return async function verifyAny(token) {
    if (!looksLikeSession(token) && verifyToken !== undefined) return verifyToken(token)
    const session = isSessionToken(token) ? await store.use(hashOf(token)) : undefined
    if (session === undefined) throw new GatewayError('authentication_error', ENDED)
    const { id, accountId: userId, role: groupRole, expiresAtMs } = session
    return { userId, claims: { sub: userId, exp: expiresAtMs / 1000 }, id, groupRole }
  }
}

const ENDED = 'The session has ended, or is not one of this gateway: sign in again.'
