import type Stripe from 'stripe'
import { GatewayError, messageOf } from '../../../core/errors.ts'
import type { Log } from '../../../core/ports/log.ts'
import type { Authorization, FoundPayment, PaymentGateway, PaymentOrder } from '../../../core/ports/payments.ts'

/**
 * DESIGN — Stripe for agents' payments
 *
 * The idempotency key depends on the challenge alone: whatever token is presented, a challenge owns one
 * PaymentIntent. A replayed reply counts. An error with a definite outcome is final; after any other
 * (no connection, 5xx, too many requests) Stripe's state is queried, or the request is repeated later.
 */

/** The version of Stripe's API with shared payment tokens, a preview; newer than the package's own. */
export const TOKEN_VERSION = '2026-07-29.preview'
/** Error classes after which nothing is held or taken, because of the payer's token. */
const REFUSALS = new Set(['StripeCardError', 'StripeInvalidRequestError'])
const RETRY_LATER = { headers: { 'retry-after': '2' } }

/** Dependencies of the Stripe gateway. */
export interface StripeGatewayOptions {
  /** Returns Stripe's client, which is loaded at its first use. */
  readonly stripe: () => Promise<Stripe>
  /** Host name of the service, which identifies its payments among those of the same Stripe account. */
  readonly realm: string
  readonly log: Log
}

/** Creates the gateway to Stripe. */
export function createStripeGateway({ stripe, realm, log }: StripeGatewayOptions): PaymentGateway {
  return {
    async authorize(order) {
      const { paymentIntents } = await stripe()
      const parameters = toParameters(order, realm)
      const intent = await paymentIntents.create(parameters, keyed(order.challengeId, 'mpp')).catch(asRefusal)
      if ('kind' in intent) return intent
      assertOrdered(intent, order)
      const authorization = standingOf(intent)
      // A person's confirmation cannot come: the intent would stay open forever.
      if (authorization.kind === 'refused' && intent.status !== 'canceled')
        await paymentIntents.cancel(intent.id, {}, keyed(order.challengeId, 'mpp_end')).catch((error: unknown) => {
          log.warn({ reference: intent.id, reason: typeOf(error) }, 'payment.cancel-failed')
        })
      return authorization
    },
    async capture({ challengeId, reference }) {
      const { paymentIntents } = await stripe()
      const error = await paymentIntents.capture(reference, {}, keyed(challengeId, 'mpp_cap')).catch(asError)
      if (!(error instanceof Error)) return error.status === 'succeeded' ? 'captured' : 'refused'
      const { status } = await paymentIntents.retrieve(reference).catch(asUnknown)
      if (status === 'succeeded') return 'captured'
      // Money still held after a definite refusal is not captured later: its reply will not be sent.
      if (status !== 'requires_capture' || isDefinite(error)) return 'refused'
      throw asUnknown(error)
    },
    async cancel({ challengeId, reference }) {
      const { paymentIntents } = await stripe()
      const intent = await paymentIntents.cancel(reference, {}, keyed(challengeId, 'mpp_can')).catch(asError)
      if (!(intent instanceof Error)) return 'canceled'
      const { status } = await paymentIntents.retrieve(reference).catch(asUnknown)
      if (status === 'succeeded') return 'captured'
      if (status === 'canceled') return 'canceled'
      throw asUnknown(intent)
    },
    async find({ challengeId, sinceMs }) {
      // Stripe's search lags behind; its lists do not.
      for await (const intent of listSince(await stripe(), sinceMs))
        if (intent.metadata.mpp_challenge_id === challengeId) return { challengeId, reference: intent.id }
      return undefined
    },
    async *list({ sinceMs }) {
      for await (const intent of listSince(await stripe(), sinceMs)) {
        const found = foundIn(intent, realm)
        if (found !== undefined) yield { ...found, createdAtMs: intent.created * 1000 }
      }
    },
  }
}

const PAGE = 100
/** Bound of a hundred thousand payments. */
const MOST_PAGES = 1000

/** Lists all payment intents of the account since then, newest first. */
async function* listSince({ paymentIntents }: Stripe, sinceMs: number): AsyncIterable<Stripe.PaymentIntent> {
  const created = { gte: Math.max(0, Math.floor(sinceMs / 1000)) }
  let after: string | undefined
  for (let page = 0; page < MOST_PAGES; page++) {
    const starting = after === undefined ? {} : { starting_after: after }
    const { data, has_more } = await paymentIntents.list({ created, limit: PAGE, ...starting }).catch(asUnknown)
    yield* data
    after = data.at(-1)?.id
    if (!has_more || after === undefined) return
  }
}

/** Returns a fetched payment of this service; `undefined` for another's. */
export function foundIn(intent: Stripe.PaymentIntent, realm: string): FoundPayment | undefined {
  const { id: reference, status, amount: amountCents, currency, capture_method, metadata } = intent
  if (metadata.mpp_realm !== realm || metadata.mpp_challenge_id === undefined) return undefined
  const settlement = capture_method === 'manual' ? 'manual' : 'automatic'
  const standing = STANDINGS[status] ?? 'open'
  return { challengeId: metadata.mpp_challenge_id, reference, standing, amountCents, currency, settlement }
}

const STANDINGS: Readonly<Partial<Record<Stripe.PaymentIntent['status'], FoundPayment['standing']>>> = {
  requires_capture: 'held',
  succeeded: 'captured',
  canceled: 'released',
  requires_payment_method: 'released',
}

/** Builds the parameters. The package's types lack tokens; Stripe's documentation of shared payment tokens has them. */
function toParameters({ challengeId, amountCents, currency, token, settlement }: PaymentOrder, realm: string) {
  return {
    amount: amountCents,
    currency,
    confirm: true,
    ...(settlement === 'manual' && { capture_method: 'manual' as const }),
    automatic_payment_methods: { enabled: true, allow_redirects: 'never' as const },
    shared_payment_granted_token: token,
    metadata: { machine_payment: 'true', mpp_challenge_id: challengeId, mpp_intent: 'charge', mpp_realm: realm },
  } as Stripe.PaymentIntentCreateParams
}

function keyed(challengeId: string, purpose: string): Stripe.RequestOptions {
  return { idempotencyKey: `${purpose}_${challengeId}`, apiVersion: TOKEN_VERSION }
}

function standingOf({ id, status }: Stripe.PaymentIntent): Authorization {
  switch (status) {
    case 'requires_capture':
      return { kind: 'authorized', reference: id }
    case 'succeeded':
      return { kind: 'captured', reference: id }
    case 'requires_action':
      return { kind: 'refused', reason: 'the payer’s bank requires a confirmation, which an agent cannot give' }
    case 'processing':
      throw new GatewayError('service_unavailable', 'The payment is still being processed.', RETRY_LATER)
    default:
      return { kind: 'refused', reason: 'the token was not accepted' }
  }
}

/** Checks the order: another intent under this key would be a fault, and no money must move on it. */
function assertOrdered({ id, amount, currency, metadata }: Stripe.PaymentIntent, order: PaymentOrder): void {
  const isOurs = metadata.mpp_challenge_id === order.challengeId
  if (isOurs && amount === order.amountCents && currency === order.currency) return
  throw new GatewayError('service_unavailable', 'The payment provider answered with another payment.', {
    cause: new Error(`${id} is not of the order`),
  })
}

function asRefusal(error: unknown): Authorization {
  if (!REFUSALS.has(typeOf(error))) throw asUnknown(error)
  return { kind: 'refused', reason: reasonOf(error) }
}

/** Returns the reason. Stripe's codes are safe to show; its messages may quote the request. */
function reasonOf(error: unknown): string {
  const { decline_code: declineCode, code } = error as { decline_code?: unknown; code?: unknown } // safe: only read
  const word = [declineCode, code].find((each) => typeof each === 'string')
  return word === undefined ? 'the token was not accepted' : `the token was not accepted (${word})`
}

function isDefinite(error: unknown): boolean {
  return REFUSALS.has(typeOf(error))
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(messageOf(error))
}

/** Throws for an unknown outcome. Only the error's class is kept: its message may contain a token or a part of the key. */
function asUnknown(error: unknown): never {
  throw new GatewayError('service_unavailable', 'The payment provider does not answer at the moment.', {
    ...RETRY_LATER,
    cause: new Error(typeOf(error)),
  })
}

/** Returns the class of Stripe's error, which may be shown, unlike its message. */
export function typeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'type' in error ? String(error.type) : 'Error'
}
