import type { JsonObject } from '../json.ts'
import { type AnswerContext, countInputTokens, listModels, toMessage } from './answers.ts'
import type { Route } from './check-request.ts'
import { toEvents, toSse } from './message-events.ts'
import { errorTypeOf, toErrorBody } from './rejection.ts'
import type { AnswerScript, ErrorScript, ReplyScript, SseScript } from './script.ts'

/** A complete HTTP reply, not sent yet. */
export interface Payload {
  status: number
  headers: Readonly<Record<string, string>>
  body: Buffer
}

/** The scripts that end in a reply of whole bytes. */
export type PayloadScript = AnswerScript | ReplyScript | SseScript | ErrorScript

/** Circumstances of a payload. */
export interface PayloadContext extends AnswerContext {
  route: Route | undefined
  url: string
  requestId: string
  models?: readonly string[]
}

const JSON_HEADERS = { 'content-type': 'application/json' }
const SSE_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }

/** Returns the status, headers and bytes of a script. */
export function toPayload(script: PayloadScript, context: PayloadContext): Payload {
  switch (script.kind) {
    case 'answer':
      return toAnswer(script, context)
    case 'reply':
      return reply(script.status ?? 200, { ...JSON_HEADERS, ...script.headers }, script.body)
    case 'sse':
      return reply(script.status ?? 200, { ...SSE_HEADERS, ...script.headers }, script.bytes)
    case 'error': {
      const { status, type = errorTypeOf(status), message = `Scripted ${type}`, headers } = script
      return reply(status, { ...JSON_HEADERS, ...headers }, toErrorBody({ type, message }, context.requestId))
    }
    default:
      return script satisfies never
  }
}

function toAnswer(script: AnswerScript, context: PayloadContext): Payload {
  const { route, body, url, models } = context
  const json = { ...JSON_HEADERS, ...script.headers }
  if (route === 'models') return reply(200, json, listModels(url, models))
  if (route === 'count-tokens') return reply(200, json, { input_tokens: countInputTokens(body) })
  const message = toMessage(context, script)
  if (body.stream !== true) return reply(200, json, message)
  return reply(200, { ...SSE_HEADERS, ...script.headers }, toSse(toEvents(message)))
}

function reply(status: number, headers: Readonly<Record<string, string>>, body: string | Buffer | JsonObject): Payload {
  if (Buffer.isBuffer(body)) return { status, headers, body }
  return { status, headers, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) }
}
