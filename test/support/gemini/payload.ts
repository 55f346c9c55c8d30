import type { JsonObject } from '../json.ts'
import type { Payload } from '../provider/payload.ts'
import type { ReplyScript, SseScript } from '../provider/script.ts'
import { countTokens, type GeminiContext, listModels, toModel, toPieces, toResponse } from './answers.ts'
import type { GeminiRoute } from './check-request.ts'
import { rejection, toErrorBody } from './rejection.ts'
import type { GeminiAnswerScript, GeminiErrorScript } from './script.ts'

/** Circumstances of a payload. */
export interface GeminiPayloadContext extends GeminiContext {
  route: GeminiRoute | undefined
  url: string
  models: readonly string[] | undefined
}

const JSON_HEADERS = { 'content-type': 'application/json; charset=UTF-8' }
const SSE_HEADERS = { 'content-type': 'text/event-stream' }

/** Returns the status, headers and bytes of a script. */
export function toPayload(
  script: GeminiAnswerScript | GeminiErrorScript | ReplyScript | SseScript,
  context: GeminiPayloadContext,
): Payload {
  switch (script.kind) {
    case 'answer':
      return toAnswer(script, context)
    case 'reply':
      return reply(script.status ?? 200, { ...JSON_HEADERS, ...script.headers }, script.body)
    case 'sse':
      return reply(script.status ?? 200, { ...SSE_HEADERS, ...script.headers }, script.bytes)
    case 'error': {
      const { status, message = 'Scripted error', reason, headers } = script
      const refused = rejection(status, message, reason)
      return reply(
        status,
        { ...JSON_HEADERS, ...headers },
        toErrorBody({ ...refused, type: script.type ?? refused.type }),
      )
    }
    default:
      return script satisfies never
  }
}

/** Prints a stream of these chunks: events without names, lines that end as Google ends them. */
export function toSse(pieces: readonly JsonObject[]): Buffer {
  return Buffer.from(pieces.map((piece) => `data: ${JSON.stringify(piece)}\r\n\r\n`).join(''))
}

function toAnswer(script: GeminiAnswerScript, context: GeminiPayloadContext): Payload {
  const { route, url, models } = context
  const json = { ...JSON_HEADERS, ...script.headers }
  switch (route?.kind) {
    case 'models':
      return reply(200, json, listModels(url, models))
    case 'model':
      return reply(200, json, toModel(route.model))
    case 'count-tokens':
      return reply(200, json, { totalTokens: countTokens(context.body) })
    case 'stream':
      return reply(200, { ...SSE_HEADERS, ...script.headers }, toSse(toPieces(context, script)))
    default:
      return reply(200, json, toResponse(context, script))
  }
}

function reply(status: number, headers: Readonly<Record<string, string>>, body: string | Buffer | JsonObject): Payload {
  if (Buffer.isBuffer(body)) return { status, headers, body }
  // Google prints JSON over many lines.
  return { status, headers, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body, null, 2)) }
}
