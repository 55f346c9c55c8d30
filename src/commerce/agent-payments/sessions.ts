import { createHmac, hash } from 'node:crypto'
import { GatewayError, messageOf } from '../../core/errors.ts'
import { canonicalJson } from '../../core/json/canonical-json.ts'
import type { Log } from '../../core/ports/log.ts'
import type { SessionStanding, SessionStore } from '../../core/ports/payments.ts'
import { objectFromBase64url, toBase64url } from './codecs/base64url.ts'
import { type Challenge, challengeId, isSignedWith, type UnsignedChallenge } from './codecs/challenge.ts'
import type { Payable } from './open-payment.ts'

/** Dependencies of `Sessions`. */
export interface SessionsOptions {
  readonly secrets: readonly [string, ...string[]]
  readonly realm: string
  /** The route of a session's calls. */
  readonly route: string
  readonly store: SessionStore
  readonly randomId: () => string
  readonly log: Log
}

/** A session as shown to its owner. */
export interface OpenedSession extends SessionStanding {
  /** The value of `Authorization` that pays for a call. */
  readonly authorization: string
}

const TTL_MS = 60 * 60_000
/** Longer than a provider may take to begin its answer; afterwards a call interrupted by a crash is given back. */
const LEASE_MS = 20 * 60_000
const INTENT = 'session'
const METHOD = 'stripe'

const REFUSED = {
  unknown: 'The session is unknown.',
  expired: 'The session has expired.',
  exhausted: 'The session has no calls left.',
} as const

/** Prepaid sessions: several calls paid for at once. */
export class Sessions {
  readonly #options: SessionsOptions

  constructor(options: SessionsOptions) {
    this.#options = options
  }

  /** Opens the session of a payment. Idempotent: the same payment opens the same session, with the same credential. */
  async open(payment: { challengeId: string; reference: string; calls: number }): Promise<OpenedSession> {
    const { store, secrets } = this.#options
    const { challengeId: sessionId, reference, calls } = payment
    // Derived, so that it can be returned again without being stored.
    const secret = createHmac('sha256', secrets[0]).update(`session token|${sessionId}`).digest('base64url')
    const token = `sst_${secret}`
    const standing = await store.open({ sessionId, tokenHash: hashOf(token), reference, calls, ttlMs: TTL_MS })
    return { ...standing, authorization: this.#credential(token, standing) }
  }

  /** Takes a call from the session of a credential; returns a message when there is none. */
  async take(challenge: Challenge, token: string): Promise<Payable | string> {
    if (!this.recognises(challenge)) return 'The session was not issued here, or its credential was changed.'
    const { store, randomId, log } = this.#options
    const callId = randomId()
    const call = await store.reserve({ tokenHash: hashOf(token), callId, leaseMs: LEASE_MS })
    if (call.kind === 'refused') return REFUSED[call.why]
    const { sessionId, reference } = call
    return {
      challengeId: sessionId,
      state: 'captured',
      reference,
      externalId: sessionId,
      async capture() {},
      async consume() {
        if (await store.commit(callId)) return
        throw new GatewayError('service_unavailable', 'The call was given back to its session. Send it again.')
      },
      async leave() {
        await store.leave(callId).catch((error: unknown) => {
          log.warn({ sessionId, reason: messageOf(error) }, 'session.leave-failed')
        })
      },
      async release() {
        await store.release(callId).catch((error: unknown) => {
          // It is given back when its lease has ended.
          log.warn({ sessionId, reason: messageOf(error) }, 'session.release-failed')
        })
      },
    }
  }

  /** Returns the remaining calls of a credential's session. */
  async standing(challenge: Challenge, token: string): Promise<SessionStanding | undefined> {
    return this.recognises(challenge) ? this.#options.store.standing(hashOf(token)) : undefined
  }

  #credential(token: string, { sessionId, callsTotal, expiresAtMs }: SessionStanding): string {
    const { realm, route, secrets } = this.#options
    const unsigned: UnsignedChallenge = {
      realm,
      method: METHOD,
      intent: INTENT,
      request: toBase64url(canonicalJson({ calls: String(callsTotal), currency: 'usd' })),
      expires: new Date(expiresAtMs).toISOString(),
      opaque: toBase64url(canonicalJson({ route, session: sessionId })),
    }
    const challenge = { id: challengeId(unsigned, secrets[0]), ...unsigned }
    return `Payment ${toBase64url(JSON.stringify({ challenge, payload: { action: 'use', session_token: token } }))}`
  }

  /** Verifies that a challenge is of a session of this gateway, by its signature: a forged one costs no query to the store. */
  recognises(challenge: Challenge): boolean {
    const { realm, route, secrets } = this.#options
    if (challenge.realm !== realm || challenge.intent !== INTENT || challenge.method !== METHOD) return false
    if (!secrets.some((secret) => isSignedWith(challenge, secret))) return false
    return objectFromBase64url(challenge.opaque ?? '')?.route === route
  }
}

function hashOf(token: string): string {
  return hash('sha256', token, 'hex')
}
