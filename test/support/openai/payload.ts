import { type JsonObject, valueAt } from '../json.ts'
import type { Payload } from '../provider/payload.ts'
import type { ChatRoute } from './check-request.ts'
import { toChatSse, toChunks } from './chunks.ts'
import { type CompletionContext, toCompletion } from './completion.ts'
import { describeModels } from './model.ts'
import { errorOf, toErrorBody } from './rejection.ts'
import type { ChatAnswerScript, ChatErrorScript, ChatPayloadScript } from './script.ts'

/** Circumstances of a payload. */
export interface ChatPayloadContext extends CompletionContext {
  route: ChatRoute | undefined
  models?: readonly string[]
  /** True if streams end with `[DONE]`. */
  done: boolean
}

const JSON_HEADERS = { 'content-type': 'application/json' }
const SSE_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8' }

/** Returns the status, headers and bytes of a script. */
export function toPayload(script: ChatPayloadScript, context: ChatPayloadContext): Payload {
  switch (script.kind) {
    case 'answer':
      return toAnswer(script, context)
    case 'reply':
      return reply(script.status ?? 200, { ...JSON_HEADERS, ...script.headers }, script.body)
    case 'sse':
      return reply(script.status ?? 200, { ...SSE_HEADERS, ...script.headers }, script.bytes)
    case 'error':
      return toError(script, context)
    default:
      return script satisfies never
  }
}

function toAnswer(script: ChatAnswerScript, context: ChatPayloadContext): Payload {
  const { route, body, models, flavour, done } = context
  const json = { ...JSON_HEADERS, ...script.headers }
  if (route?.kind === 'models') return reply(200, json, describeModels(undefined, models))
  if (route?.kind === 'model') return reply(200, json, describeModels(route.id))
  const completion = toCompletion(context, script)
  if (body.stream !== true) return reply(200, json, completion)
  const chunks = toChunks(completion, {
    includeUsage: valueAt(body.stream_options, 'include_usage') === true,
    obfuscation: flavour === 'openai' && valueAt(body.stream_options, 'include_obfuscation') !== false,
    interleaved: script.interleaved === true,
  })
  return reply(200, { ...SSE_HEADERS, ...script.headers }, toChatSse(chunks, done))
}

function toError(script: ChatErrorScript, { flavour }: ChatPayloadContext): Payload {
  const { status, headers } = script
  const known = errorOf(status)
  const { type = known.type, code = known.code, param = null } = script
  const error = { status, type, code, param, message: script.message ?? `Scripted ${type}` }
  return reply(status, { ...JSON_HEADERS, ...headers }, toErrorBody(error, flavour))
}

function reply(status: number, headers: Readonly<Record<string, string>>, body: string | Buffer | JsonObject): Payload {
  if (Buffer.isBuffer(body)) return { status, headers, body }
  return { status, headers, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) }
}
