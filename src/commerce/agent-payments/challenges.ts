import { randomBytes } from 'node:crypto'
import { canonicalJson } from '../../core/json/canonical-json.ts'
import type { ClaimRefusal, PaymentStore } from '../../core/ports/payments.ts'
import { objectFromBase64url, toBase64url } from './codecs/base64url.ts'
import { type Challenge, challengeId, isSignedWith } from './codecs/challenge.ts'

/** The request and price that a challenge covers. */
export interface Demand {
  readonly route: string
  /** RFC 9530 digest of the request's body. */
  readonly digest: string
  readonly amountCents: number
}

/** A challenge issued by this gateway, returned unchanged. */
export interface OwnChallenge extends Demand {
  readonly id: string
  readonly windowId: string
  /** By the store's clock, in milliseconds since 1970. */
  readonly expiresAtMs: number
}

/** Dependencies of `Challenges`. */
export interface ChallengesOptions {
  /** The first signs; all are accepted, so that a secret can be rotated while challenges are in flight. */
  readonly secrets: readonly [string, ...string[]]
  /** Host name of the service. */
  readonly realm: string
  /** The payment provider's name of the seller. */
  readonly networkId: string
  /** Text for people in each challenge. */
  readonly description?: string | undefined
  readonly store: Pick<PaymentStore, 'openWindow'>
  /** A monotonic clock, in milliseconds. */
  readonly monotonicMs: () => number
}

const METHOD = 'stripe'
const INTENT = 'charge'
/** Specification, section 8. */
const TTL_MS = 5 * 60_000
const WINDOW_MS = 60_000
const NONCE_BYTES = 12
const ID_BYTES = 12

/** A minute in which challenges are issued, and the offset of its clock. */
interface IssueWindow {
  readonly id: string
  /** Added to the monotonic clock to get the store's time. */
  readonly offsetMs: number
}

/** Issues and recognises challenges. A challenge is no row: see the store's DESIGN. */
export class Challenges {
  readonly #options: ChallengesOptions
  #window: Promise<IssueWindow> | undefined
  /** The last window that the store has recorded; `undefined` from its end until the next. */
  #known: IssueWindow | undefined
  #openedAtMs = Number.NEGATIVE_INFINITY

  constructor(options: ChallengesOptions) {
    this.#options = options
  }

  /** Issues a challenge. Rejects with `service_unavailable` while the store is down. */
  async issue({ route, digest, amountCents }: Demand): Promise<Challenge> {
    const { secrets, realm, networkId, description, monotonicMs } = this.#options
    const { id, offsetMs } = await this.#currentWindow()
    const opaque = { nonce: randomBytes(NONCE_BYTES).toString('base64url'), route, window: id }
    const request = {
      amount: String(amountCents),
      currency: 'usd',
      methodDetails: { networkId, paymentMethodTypes: ['card', 'link'] },
    }
    const challenge = {
      realm,
      method: METHOD,
      intent: INTENT,
      request: toBase64url(canonicalJson(request)),
      expires: new Date(Math.floor(monotonicMs() + offsetMs + TTL_MS)).toISOString(),
      digest,
      opaque: toBase64url(canonicalJson(opaque)),
    }
    return { id: challengeId(challenge, secrets[0]), ...challenge, ...(description !== undefined && { description }) }
  }

  /** Returns the challenge if this gateway issued it for this route and it is unchanged; without a query to the store. */
  recognise(challenge: Challenge, route: string): OwnChallenge | undefined {
    const { secrets, realm } = this.#options
    const { id, method, intent, expires, digest, opaque } = challenge
    if (challenge.realm !== realm || method !== METHOD || intent !== INTENT) return undefined
    if (expires === undefined || digest === undefined || opaque === undefined) return undefined
    if (!secrets.some((secret) => isSignedWith(challenge, secret))) return undefined
    const said = objectFromBase64url(opaque)
    if (said?.route !== route || typeof said.window !== 'string') return undefined
    // Signed by this gateway, so its form is known.
    const amountCents = Number(objectFromBase64url(challenge.request)?.amount)
    return { id, route, digest, amountCents, windowId: said.window, expiresAtMs: Date.parse(expires) }
  }

  /**
   * Learns that the store has refused a challenge. When that was because of its window, the next challenge has a new one:
   * the store may have lost it, or its clock was set forward.
   */
  noteRefusal({ windowId, expiresAtMs }: OwnChallenge, why: ClaimRefusal): void {
    if (this.#known === undefined) return
    const { id, offsetMs } = this.#known
    const isLost = why === 'unknown' && windowId === id
    const isEarly = why === 'expired' && expiresAtMs > this.#options.monotonicMs() + offsetMs
    if (isLost || isEarly) this.#window = this.#known = undefined
  }

  /** Returns the current window, one a minute; concurrent callers share its opening. */
  #currentWindow(): Promise<IssueWindow> {
    const nowMs = this.#options.monotonicMs()
    if (this.#window !== undefined && nowMs - this.#openedAtMs < WINDOW_MS) return this.#window
    this.#openedAtMs = nowMs
    const opening = this.#openWindow()
    this.#window = opening
    opening.catch(() => {
      if (this.#window === opening) this.#window = undefined
    })
    return opening
  }

  async #openWindow(): Promise<IssueWindow> {
    const { store, monotonicMs } = this.#options
    const id = randomBytes(ID_BYTES).toString('base64url')
    const storesMs = await store.openWindow(id)
    this.#known = { id, offsetMs: storesMs - monotonicMs() }
    return this.#known
  }
}
