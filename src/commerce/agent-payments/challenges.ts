import { randomBytes } from 'node:crypto'
import { canonicalJson } from '../../core/json/canonical-json.ts'
import type { PaymentStore } from '../../core/ports/payments.ts'
import { objectFromBase64url, toBase64url } from './codecs/base64url.ts'
import { type Challenge, challengeId, isSignedWith } from './codecs/challenge.ts'

/** What a challenge asks to be paid for. */
export interface Demand {
  readonly route: string
  /** RFC 9530, of the request's body. */
  readonly digest: string
  readonly amountCents: number
}

/** A challenge of ours that came back unchanged. */
export interface OwnChallenge extends Demand {
  readonly id: string
  readonly windowId: string
  /** By the store's clock. */
  readonly expiresAtMs: number
}

/** What challenges are made with. */
export interface ChallengesOptions {
  /** The first signs; all are taken, so that one can be put in the place of another while challenges are on their way. */
  readonly secrets: readonly [string, ...string[]]
  /** Host name of the service. */
  readonly realm: string
  /** The payment provider's name of the seller. */
  readonly networkId: string
  readonly store: Pick<PaymentStore, 'openWindow'>
  /** A clock that never jumps, in milliseconds. */
  readonly monotonicMs: () => number
}

const METHOD = 'stripe'
const INTENT = 'charge'
/** Specification, section 8. */
const TTL_MS = 5 * 60_000
const WINDOW_MS = 60_000
const NONCE_BYTES = 12
const ID_BYTES = 12

/** A minute in which challenges are issued, and how its clock goes. */
interface IssueWindow {
  readonly id: string
  /** What is added to the monotonic clock to have the store's. */
  readonly offsetMs: number
}

/** Issues challenges and knows them again. A challenge is no row: see the store's DESIGN. */
export class Challenges {
  readonly #options: ChallengesOptions
  #window: Promise<IssueWindow> | undefined
  #openedAtMs = Number.NEGATIVE_INFINITY

  constructor(options: ChallengesOptions) {
    this.#options = options
  }

  /** Rejects with `service_unavailable` while the store does not answer. */
  async issue({ route, digest, amountCents }: Demand): Promise<Challenge> {
    const { secrets, realm, networkId, monotonicMs } = this.#options
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
    return { id: challengeId(challenge, secrets[0]), ...challenge }
  }

  /** The challenge, if it is one of ours, for this route, and unchanged; without a look into the store. */
  recognise(challenge: Challenge, route: string): OwnChallenge | undefined {
    const { secrets, realm } = this.#options
    const { id, method, intent, expires, digest, opaque } = challenge
    if (challenge.realm !== realm || method !== METHOD || intent !== INTENT) return undefined
    if (expires === undefined || digest === undefined || opaque === undefined) return undefined
    if (!secrets.some((secret) => isSignedWith(challenge, secret))) return undefined
    const said = objectFromBase64url(opaque)
    if (said?.route !== route || typeof said.window !== 'string') return undefined
    // Signed by us, so it is as we made it.
    const amountCents = Number(objectFromBase64url(challenge.request)?.amount)
    return { id, route, digest, amountCents, windowId: said.window, expiresAtMs: Date.parse(expires) }
  }

  /** One window a minute; those who come while it is opened wait for it. */
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
    return { id, offsetMs: storesMs - monotonicMs() }
  }
}
