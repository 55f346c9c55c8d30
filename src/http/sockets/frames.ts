import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { GatewayError } from '../../core/errors.ts'
import { isObject, type JsonObject, tryParseJson } from '../../core/json/json-value.ts'
import type { RequestDocument } from '../../core/request/request.ts'
import { printResponse } from '../../dialects/responses/reply/response-object.ts'

const ID_BYTES = 12
const NO_USAGE = {
  input_tokens: 0,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 0,
}

/** Returns an event whose response names the one before it, which the turn's own request does not. */
export function withPrevious(event: JsonObject, response: JsonObject, id: string): JsonObject {
  return { ...event, response: { ...response, previous_response_id: id } }
}

/** Returns the events that answer a request which only announces the next one, and its response. */
export function announcedEvents(request: RequestDocument, nowMs: number) {
  const now = Math.floor(nowMs / 1000)
  const state = {
    id: `resp_${randomBytes(ID_BYTES).toString('hex')}`,
    model: request.model,
    createdAt: now,
    error: null,
    incompleteReason: undefined,
    output: [],
    isStored: false,
  }
  const begun = JSON.parse(printResponse(request, { ...state, status: 'in_progress', completedAt: null, usage: null }))
  const done = JSON.parse(printResponse(request, { ...state, status: 'completed', completedAt: now, usage: NO_USAGE }))
  const events = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
    { type: 'response.completed', response: done },
  ]
  return { events, done }
}

/** Returns the type of a message. Throws `invalid_request` for one that is no JSON object. */
export function typeOf(message: Buffer): unknown {
  const parsed = tryParseJson(message)
  if (!isObject(parsed)) throw new GatewayError('invalid_request', 'The message is not a JSON object.')
  return parsed.type
}

/** Builds the error of a message of another type. */
export function unknownType(type: unknown): GatewayError {
  const shown = JSON.stringify(type)?.slice(0, 100)
  return new GatewayError('invalid_request', `type: expected response.create, got ${shown}.`)
}

/** Returns the headers of a refusal that clients act on. */
export function plainHeaders(headers: IncomingMessage['headers']): JsonObject {
  const shown = ['retry-after', 'x-request-id', 'x-svc-receipt']
  const own = Object.entries(headers).filter(([name]) => shown.includes(name) || name.startsWith('x-codex-'))
  return Object.fromEntries(own)
}
