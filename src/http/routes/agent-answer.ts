import type { IncomingMessage } from 'node:http'
import type { ParameterizedContext } from 'koa'
import { GatewayError } from '../../core/errors.ts'
import { replyFromStored, type StoredReply } from '../../core/reply/stored-reply.ts'
import type { ClientRequest } from '../../core/request/client-request.ts'
import type { Exchange, Target } from '../../core/request/exchange.ts'
import { awaitFirstEvent } from '../../payments/await-first-event.ts'
import type { PaymentCredential } from '../../payments/codecs/credential.ts'
import { printPaymentReceipt } from '../../payments/codecs/payment-receipt.ts'
import type { DeliveredAnswers, Repetition } from '../../payments/delivered.ts'
import type { Payable } from '../../payments/open-payment.ts'
import { agentScope, tokenHash } from '../../payments/paywall.ts'
import type { RunnablePipeline } from '../../pipeline/pipelines.ts'
import type { RequestState } from '../request-context.ts'
import { sendReply } from '../send-reply.ts'
import type { Admitted, ModelRouteOptions } from './model.ts'

/** What paid answers are given with. */
export interface PaidAnswerOptions extends Pick<ModelRouteOptions, 'dialect' | 'recorder' | 'send' | 'callerParts'> {
  readonly delivered: DeliveredAnswers
  /** Wall-clock time in milliseconds since 1970. */
  readonly nowMs: () => number
}

/** A call that could be made, once it is paid. */
export interface Call {
  readonly client: ClientRequest
  readonly targets: readonly [Target, ...Target[]]
  readonly pipeline: RunnablePipeline
}

/** A call that is paid. */
export interface Paid extends Pick<Admitted, 'enteredAtMs' | 'readAtMs'> {
  readonly options: PaidAnswerOptions
  readonly call: Call
  readonly payment: Payable
  readonly amountCents: number
  /** The payer's: their scope. */
  readonly token: string
  /** Set when the client may ask for the answer again. */
  readonly repetition: Repetition | undefined
}

const PAID = { header: 'payment', secret: '' } as const

/** Lets a paid call pass: the answer goes out when the money is taken, and not before. */
export function admitPaid(ctx: ParameterizedContext<RequestState>, paid: Paid): Admitted {
  const { options, call, payment, token, amountCents, enteredAtMs, readAtMs } = paid
  return {
    ...call,
    // What agents say is kept by nobody.
    options: { ...options, route: 'agent', fees: undefined, capture: undefined },
    authenticated: { caller: { kind: 'agent', scope: agentScope(token) }, credential: PAID },
    standing: {},
    headers: withoutCredential(ctx.req),
    enteredAtMs,
    readAtMs,
    beforeReply: (exchange) => settle(ctx, exchange, paid),
    settlement: () => (isFree(ctx.state.exchange, payment) ? undefined : settlementOf(payment, amountCents)),
  }
}

/** A stored answer to an earlier call of the payer's own uses up no call of a session. */
function isFree(exchange: Exchange | undefined, { externalId }: Payable): boolean {
  if (externalId === undefined || exchange === undefined || exchange.isAsked) return false
  return exchange.trace.some(({ action, details }) => action === 'hit' && OWN_SCOPES.has(details?.scope))
}

/** Scopes of caches in which a payer finds its own answers only: a token is a key, and has no user. */
const OWN_SCOPES: ReadonlySet<unknown> = new Set(['key', 'user'])

/** Neither modules nor providers see how the call was paid for, or that it may be a repetition. */
function withoutCredential({ headers }: IncomingMessage): NodeJS.Dict<string | string[]> {
  const { authorization: _, 'idempotency-key': __, ...rest } = headers
  return rest
}

/** The answer is there: the money is taken, and then the answer may go. Gives the headers that tell of it. */
async function settle(
  ctx: ParameterizedContext<RequestState>,
  exchange: Exchange,
  { options, payment, repetition }: Pick<Paid, 'options' | 'payment' | 'repetition'>,
): Promise<Record<string, string>> {
  const { reply } = exchange
  const status = reply?.status ?? ctx.status
  if (status >= 400) {
    assertForPayer(status)
    return {}
  }
  if (reply?.kind === 'stream') exchange.reply = await awaitFirstEvent(reply, exchange.signal)
  for (const name of ['cache-control', 'payment-receipt', 'www-authenticate']) delete exchange.reply?.headers[name]
  try {
    exchange.signal.throwIfAborted()
    await payment.capture()
    exchange.signal.throwIfAborted()
    const told = { 'payment-receipt': receiptFor(payment, options.nowMs()) }
    // Before the payment is used up: from then on only a kept answer can be given again.
    if (repetition !== undefined && exchange.reply !== undefined)
      await options.delivered.keep(repetition, exchange.reply, told)
    if (!isFree(exchange, payment)) await payment.consume()
    return { ...told, ...PRIVATE }
  } catch (error) {
    exchange.reply?.cancel()
    throw error
  }
}

/** Headers of whatever carries a payment's receipt. */
export const PRIVATE = { 'cache-control': 'private', 'x-accel-buffering': 'no' }

/** The value of `Payment-Receipt`. */
export function receiptFor({ reference = '', externalId }: Payable, nowMs: number): string {
  const timestamp = new Date(nowMs).toISOString()
  return printPaymentReceipt({ method: 'stripe', reference, externalId, status: 'success', timestamp })
}

const LONGEST_KEY = 255

/** What a repetition of this call would have the same. Throws `invalid_request` for a key that is too long. */
export function repetitionOf(
  { req }: Pick<ParameterizedContext, 'req'>,
  { challenge, token }: PaymentCredential,
): Repetition | undefined {
  const key = req.headers['idempotency-key']
  if (typeof key !== 'string' || key === '') return undefined
  if (key.length > LONGEST_KEY)
    throw new GatewayError('invalid_request', `Idempotency-Key: expected at most ${LONGEST_KEY} characters.`)
  return { challengeId: challenge.id, tokenHash: tokenHash(token), key }
}

/** Sends an answer that was delivered before. */
export function repeat(
  ctx: ParameterizedContext<RequestState>,
  again: StoredReply,
  { options, client }: { options: PaidAnswerOptions; client: ClientRequest },
): void {
  const { dialect, send } = options
  const reply = replyFromStored(again, { dialect: client.dialect, stream: client.document.stream })
  // The same body was answered, so the answer is of the same kind.
  if (reply === undefined) throw new Error('a kept answer is of another kind')
  ctx.respond = false
  const headers = { 'request-id': ctx.state.requestId, 'idempotent-replayed': 'true', ...PRIVATE }
  sendReply(ctx.res, reply, { ...send, headers, dialect, request: client })
}

/** These are about the operator's account with the provider, and a payer would take them for their own. */
const OPERATORS_TROUBLE = new Set([401, 402, 403])

function assertForPayer(status: number): void {
  if (!OPERATORS_TROUBLE.has(status)) return
  throw new GatewayError('upstream_error', `The provider refused the call (${status}). Nothing was charged.`)
}

function settlementOf({ challengeId, reference, state }: Payable, amountCents: number) {
  if (reference === undefined || state !== 'captured') return undefined
  return { method: 'stripe', challenge_id: challengeId, reference, amount_cents: amountCents, currency: 'usd' } as const
}
