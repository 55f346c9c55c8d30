import { readJson } from '../../../core/json/json-error.ts'
import { isObject, type JsonObject, tryParseJson } from '../../../core/json/json-value.ts'
import { RequestDocument } from '../../../core/request/request.ts'
import { scanBody } from '../../scan-body.ts'

/**
 * DESIGN: conversations that the gateway stores
 *
 *   stored: {"input": [its input, with that of the responses before it], "response": {…, "output": […]}}
 *   next request: input = stored input, stored output, own input; without `previous_response_id`
 *
 * Each response has its whole conversation, so that it outlives those before it. Instructions are not carried over
 * (OpenAI, API reference, "Create a model response": `previous_response_id`).
 */

/** A conversation up to a response. */
export interface StoredConversation {
  readonly input: readonly JsonObject[]
  readonly response: JsonObject
}

/** Prints the conversation of a request and the response to it, as JSON. */
export function printConversation(request: RequestDocument, response: JsonObject): string {
  return `{"input":${itemsOf(request)},"response":${JSON.stringify(response)}}`
}

/** Reads a stored conversation; `undefined` when it is none. */
export function readConversation(content: string): StoredConversation | undefined {
  const stored = tryParseJson(content)
  if (!isObject(stored) || !Array.isArray(stored.input) || !isObject(stored.response)) return undefined
  return { input: stored.input.filter(isObject), response: stored.response }
}

/**
 * Returns the request with the stored conversation before its own input. Its response repeats the id of the previous one.
 * Throws `invalid_request` when both together are too large.
 */
export function continuedRequest(request: RequestDocument, { input, response }: StoredConversation): RequestDocument {
  const output = Array.isArray(response.output) ? response.output : []
  const items = joinedItems(JSON.stringify([...input, ...output]), itemsOf(request))
  const { bytes } = readJson(request.bytes, () =>
    request.edited([
      { op: 'replace', path: ['input'], value: Buffer.from(items) },
      { op: 'remove', path: ['previous_response_id'] },
    ]),
  )
  return new RequestDocument(bytes, scanBody(bytes), { previous_response_id: request.field('previous_response_id') })
}

/** Joins two JSON lists. */
export function joinedItems(earlier: string, later: string): string {
  const lists = [earlier, later].map((list) => list.slice(1, -1).trim())
  return `[${lists.filter((items) => items !== '').join(',')}]`
}

/** Returns the input of a request as a JSON list of items. */
export function itemsOf(request: RequestDocument): string {
  const input = request.raw('input')?.toString().trim() ?? '[]'
  return input.startsWith('[') ? input : `[{"type":"message","role":"user","content":${input}}]`
}
