import type { ParameterizedContext } from 'koa'
import type { PaymentCredential } from '../commerce/agent-payments/codecs/credential.ts'
import type { Repetition } from '../commerce/agent-payments/delivered.ts'
import { tokenHash } from '../commerce/agent-payments/paywall.ts'
import { GatewayError } from '../core/errors.ts'
import { replyFromStored, type StoredReply } from '../core/reply/stored-reply.ts'
import type { ClientRequest } from '../core/request/client-request.ts'
import type { AnswerOptions } from './answer.ts'
import { PRIVATE } from './payment-receipt.ts'
import type { RequestState } from './request-context.ts'
import { sendReply } from './send-reply.ts'

const LONGEST_KEY = 255

/** Returns the key by which retries of a call are recognized. Throws `invalid_request` for a key that is too long. */
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

/** Sends a stored reply that was delivered before. */
export function sendRepeated(
  ctx: ParameterizedContext<RequestState>,
  stored: StoredReply,
  { options, client }: { options: Pick<AnswerOptions, 'dialect' | 'send'>; client: ClientRequest },
): void {
  const { dialect, send } = options
  const reply = replyFromStored(stored, { dialect: client.dialect, stream: client.document.stream })
  // The body is the same, so its reply is of the same kind.
  if (reply === undefined) throw new Error('a kept answer is of another kind')
  ctx.respond = false
  const headers = { 'request-id': ctx.state.requestId, 'idempotent-replayed': 'true', ...PRIVATE }
  sendReply(ctx.res, reply, { ...send, headers, dialect, request: client })
}
