import type { Form, FormValue } from './form.ts'
import type { Card, StripeObject } from './objects.ts'
import { Refusal } from './refusal.ts'
import type { Department, StripeRequest } from './stand-in.ts'
import type { World } from './world.ts'

/*
 * DESIGN. The part of Stripe for machine payments: shared payment tokens, and payments that are made with one, held,
 * captured and cancelled. It is strict: an unknown parameter, or an API version without
 * tokens, is refused. Everything else is left to the stand-in.
 */

const INTENTS = '/v1/payment_intents'
const TOKENS = '/v1/test_helpers/shared_payment/granted_tokens'
const TOKEN = 'shared_payment.granted_token'
const CREATE_PARAMETERS = new Set([
  'amount',
  'currency',
  'confirm',
  'capture_method',
  'automatic_payment_methods',
  'shared_payment_granted_token',
  'metadata',
])
/** Stripe's smallest charge in this currency, in cents. */
const LEAST_USD_CENTS = 50

/** Terms of a token from a wallet. */
export interface Grant {
  /** Default `good`. */
  readonly card?: Card
  /** Default 50. */
  readonly maxCents?: number
  /** Seconds since 1970; default in an hour. */
  readonly expiresAtS?: number
}

/** Grants a token, `spt_…`, as a wallet does. */
export function grantToken(world: World, { card = 'good', maxCents = 50, expiresAtS }: Grant = {}): string {
  const id = world.objects.nextId('spt')
  const expires_at = expiresAtS ?? world.nowS() + 3600
  world.objects.add({ id, object: TOKEN, card, currency: 'usd', max_amount: maxCents, used: 0, expires_at })
  return id
}

/** State of a challenge's money. */
export interface Books {
  readonly intents: number
  readonly capturedCents: number
  readonly heldCents: number
  readonly statuses: readonly string[]
}

/** Returns the books of one challenge, or of all. */
export function booksOf(world: World, challengeId?: string): Books {
  const intents = world.objects
    .all('payment_intent')
    .filter(({ metadata }) => challengeId === undefined || (metadata as Form).mpp_challenge_id === challengeId)
  const sum = (status: string) =>
    intents.filter((each) => each.status === status).reduce((cents, { amount }) => cents + Number(amount), 0)
  return {
    intents: intents.length,
    capturedCents: sum('succeeded'),
    heldCents: sum('requires_capture'),
    statuses: intents.map(({ status }) => String(status)),
  }
}

/** Machine payments, for `startStripe`. */
export const machinePayments: Department = (world, request) => {
  const { method, path, form } = request
  if (method === 'POST' && path === TOKENS) return grant(world, form)
  if (method === 'GET' && path === '/v1/account') return accountOf(world)
  if (!path.startsWith(INTENTS)) return undefined
  const [, id = '', action = ''] = /^\/v1\/payment_intents\/([^/]+)\/?(.*)$/.exec(path) ?? []
  if (method === 'POST' && id === '' && form.shared_payment_granted_token !== undefined) return create(world, request)
  if (method === 'POST' && action === 'capture') return capture(world, id)
  if (method === 'POST' && action === 'cancel') return cancel(world, id)
  return undefined
}

/** Returns the account of the key; it can charge unless a test has changed that. */
export function accountOf(world: World): StripeObject {
  const [account] = world.objects.all('account')
  return account ?? world.objects.add({ id: 'acct_1', object: 'account', charges_enabled: true })
}

function grant(world: World, form: Form): StripeObject {
  const { usage_limits: limits } = form as { usage_limits?: Record<string, string> }
  if (limits?.currency !== 'usd' || form.payment_method === undefined)
    throw new Refusal(400, 'Expected payment_method and usage_limits[currency]=usd.')
  const card = form.payment_method === 'pm_card_visa' ? 'good' : 'declined'
  const maxCents = Number(limits.max_amount)
  const id = grantToken(world, { card, maxCents, expiresAtS: Number(limits.expires_at) })
  return world.objects.get(TOKEN, id)
}

function create(world: World, { form, version }: StripeRequest): StripeObject {
  if (!version.endsWith('.preview')) throw unknownParameter('shared_payment_granted_token')
  for (const name of Object.keys(form)) if (!CREATE_PARAMETERS.has(name)) throw unknownParameter(name)
  const methods = (form.automatic_payment_methods ?? {}) as Form
  if (form.confirm !== 'true' || methods.enabled !== 'true' || methods.allow_redirects !== 'never')
    throw new Refusal(400, 'A token can only be used to confirm at once, without redirects.')
  const amount = wholeNumber(form.amount)
  if (form.currency !== 'usd' || amount < LEAST_USD_CENTS)
    throw new Refusal(400, 'Amount must be at least $0.50 usd', { code: 'amount_too_small', param: 'amount' })
  const token = world.objects.get(TOKEN, String(form.shared_payment_granted_token))
  assertUsable(world, token, amount)
  const intent = world.objects.add({
    id: world.objects.nextId('pi'),
    object: 'payment_intent',
    amount,
    currency: 'usd',
    capture_method: form.capture_method ?? 'automatic',
    metadata: form.metadata ?? {},
    created: world.nowS(),
  })
  return confirm(world, intent, token)
}

function confirm(world: World, intent: StripeObject, token: StripeObject): StripeObject {
  switch (token.card as Card) {
    case 'declined': {
      const error = { type: 'card_error', code: 'card_declined', decline_code: 'insufficient_funds' }
      Object.assign(intent, { status: 'requires_payment_method', last_payment_error: error })
      throw new Refusal(402, 'Your card was declined.', { ...error, payment_intent: structuredClone(intent) })
    }
    case 'asks-owner':
      return Object.assign(intent, { status: 'requires_action' })
    case 'slow':
      return Object.assign(intent, { status: 'processing' })
    case 'good':
      token.used = Number(token.used) + Number(intent.amount)
      if (intent.capture_method === 'manual') return hold(world, intent)
      return succeed(world, intent)
  }
}

function hold(world: World, intent: StripeObject): StripeObject {
  Object.assign(intent, { status: 'requires_capture' })
  world.raise('payment_intent.amount_capturable_updated', intent)
  return intent
}

function capture(world: World, id: string): StripeObject {
  const intent = world.objects.get('payment_intent', id)
  if (intent.status !== 'requires_capture') throw unexpectedState(intent, 'captured')
  if (intent.refusesCapture === true) throw new Refusal(402, 'The capture was declined.', { type: 'card_error' })
  return succeed(world, intent)
}

function cancel(world: World, id: string): StripeObject {
  const intent = world.objects.get('payment_intent', id)
  if (intent.status === 'succeeded' || intent.status === 'canceled' || intent.status === 'processing')
    throw unexpectedState(intent, 'canceled')
  return Object.assign(intent, { status: 'canceled' })
}

function succeed(world: World, intent: StripeObject): StripeObject {
  Object.assign(intent, { status: 'succeeded', amount_received: intent.amount })
  world.raise('payment_intent.succeeded', intent)
  return intent
}

function assertUsable(world: World, token: StripeObject, amount: number): void {
  const isOver = Number(token.expires_at) <= world.nowS()
  const isUsedUp = Number(token.used) + amount > Number(token.max_amount)
  if (!isOver && !isUsedUp) return
  throw new Refusal(400, `The token was deactivated: ${isOver ? 'expired' : 'consumed'}.`, {
    code: 'shared_payment_granted_token_deactivated',
    param: 'shared_payment_granted_token',
  })
}

function wholeNumber(value: FormValue | undefined): number {
  if (typeof value !== 'string' || !/^[1-9]\d*$/.test(value)) throw new Refusal(400, `Invalid integer: ${value}`)
  return Number(value)
}

function unknownParameter(param: string): Refusal {
  return new Refusal(400, `Received unknown parameter: ${param}`, { code: 'parameter_unknown', param })
}

function unexpectedState({ status }: StripeObject, wanted: string): Refusal {
  return new Refusal(400, `This PaymentIntent could not be ${wanted} because it has a status of ${status}.`, {
    code: 'payment_intent_unexpected_state',
  })
}
