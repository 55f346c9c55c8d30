import type { ExecutionContext } from 'ava'
import type { JsonObject } from '../json.ts'
import { type ChatRules, checkRequest } from './check-request.ts'

/** A body that must be refused: its fault, the body, words of the message, and its `param` or its `code`. */
export type RefusedBody = readonly [claim: string, body: JsonObject, message: string, pointer?: string]

/** Asserts that the server refuses the body of a chat completions request with this message. */
export function assertRefused(
  t: ExecutionContext,
  [, body, message, pointer]: RefusedBody,
  rules: ChatRules = {},
): void {
  const headers = { authorization: 'Bearer test-key', 'content-type': 'application/json' }
  const raw = Buffer.from(JSON.stringify(body))
  const refused = checkRequest({ method: 'POST', url: '/v1/chat/completions', headers, raw }, rules)
  t.is(refused?.status, 400)
  t.true(refused?.message.includes(message), refused?.message)
  if (pointer !== undefined) t.true([refused?.param, refused?.code].includes(pointer), JSON.stringify(refused))
}
