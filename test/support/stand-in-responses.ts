import type { IncomingMessage, ServerResponse } from 'node:http'
import { errorOf, toErrorBody } from './openai/rejection.ts'
import type { ChatScript } from './openai/script.ts'
import { type Answered, deliver, play } from './provider/deliver.ts'
import type { Payload } from './provider/payload.ts'
import { open, readBody } from './provider/receive.ts'
import { type Scripted, type Scripts, type Serving, startScripted } from './provider/scripted.ts'
import { type AnswerContext, toResponse, toSse, toWindow } from './responses/answer.ts'
import { COMPACT_PATH, checkRequest, type ResponsesRules } from './responses/check-request.ts'

/*
 * DESIGN. A stand-in for a server of OpenAI's Responses: a real HTTP server on loopback. It refuses fields and items that the
 * API does not have, calls without results, and reasoning that it has not encrypted itself.
 */

/** Options of `startResponses`. */
export interface ResponsesOptions extends ResponsesRules {
  /** Replies to requests until `reply()` changes them. Default: the default reply. */
  script?: Scripts<ChatScript>
}

/** A running stand-in. */
export type ResponsesServer = Scripted<ChatScript>

/** Starts a strict stand-in for Responses on a free loopback port; its `url` has no `/v1`. */
export function startResponses(options: ResponsesOptions = {}): Promise<ResponsesServer> {
  return startScripted(options, serve)
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  { journal, rules, count, script: choose }: Serving<ChatScript, ResponsesOptions>,
): Promise<void> {
  const { entry, exchange } = open(request, response, journal)
  const nth = count()
  const isComplete = await readBody(request, entry)
  const refused = isComplete ? checkRequest(entry, rules) : undefined
  entry.refused = refused
  journal.record(entry)
  if (!isComplete) return
  response.setHeader('x-request-id', `req_responses${String(nth).padStart(19, '0')}`)
  if (refused !== undefined) return deliver(jsonOf(refused.status, toErrorBody(refused, 'openai')), {}, exchange)
  const script: ChatScript = choose(entry) ?? { kind: 'answer' }
  const isWindow = entry.url.split('?')[0] === COMPACT_PATH
  await play(script, exchange, (answered) => payloadOf(answered, { body: entry.json ?? {}, nth, isWindow }))
}

function payloadOf(
  script: Answered<ChatScript>,
  { isWindow, ...context }: AnswerContext & { isWindow: boolean },
): Payload {
  if (script.kind === 'reply') return jsonOf(script.status ?? 200, script.body, script.headers)
  if (script.kind === 'sse') return { status: 200, headers: SSE, body: Buffer.from(script.bytes) }
  if (script.kind === 'error') {
    const { status, headers, message = 'Scripted' } = script
    return jsonOf(status, toErrorBody({ ...errorOf(status), status, message, param: null }, 'openai'), headers)
  }
  if (isWindow) return jsonOf(200, toWindow(context), script.headers)
  const whole = toResponse(context, script)
  if (context.body.stream !== true) return jsonOf(200, whole, script.headers)
  return { status: 200, headers: { ...SSE, ...script.headers }, body: toSse(whole, script.interleaved === true) }
}

const SSE = { 'content-type': 'text/event-stream; charset=utf-8' }

function jsonOf(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Payload {
  const bytes =
    typeof body === 'string' || Buffer.isBuffer(body) ? Buffer.from(body) : Buffer.from(JSON.stringify(body))
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: bytes }
}
