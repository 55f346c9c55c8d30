import { GatewayError } from '../../../core/errors.ts'
import type { JsonObject } from '../../../core/json/json-value.ts'
import type { StoredConversation } from './continued-request.ts'

const DEFAULT_LIMIT = 20
const MOST_LIMIT = 100
const PART_TYPES: Readonly<Record<string, string>> = { assistant: 'output_text' }

/**
 * Lists the input of a stored response, newest first unless `order` is `asc` (OpenAI, API reference, "List input items"). An
 * item without an id gets one from its place, which `after` takes. Throws `invalid_request` for other values.
 */
export function listInputItems({ input }: StoredConversation, query: URLSearchParams): JsonObject {
  const order = query.get('order') ?? 'desc'
  if (order !== 'asc' && order !== 'desc') throw invalid('order: expected asc or desc')
  const limit = Number(query.get('limit') ?? DEFAULT_LIMIT)
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST_LIMIT)
    throw invalid(`limit: expected a number from 1 to ${MOST_LIMIT}`)
  const items = input.map(itemAt)
  if (order === 'desc') items.reverse()
  const after = query.get('after')
  const start = after === null ? 0 : items.findIndex(({ id }) => id === after) + 1
  if (after !== null && start === 0) throw invalid('after: expected the id of an item of this list')
  const data = items.slice(start, start + limit)
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + limit < items.length,
  }
}

function itemAt(item: JsonObject, index: number): JsonObject {
  const type = typeof item.type === 'string' ? item.type : 'message'
  const content = typeof item.content === 'string' ? [textPart(item.role, item.content)] : item.content
  const id = typeof item.id === 'string' ? item.id : `item_${index}`
  return { ...item, id, type, ...(content !== undefined && { content }) }
}

function textPart(role: unknown, text: string): JsonObject {
  return { type: PART_TYPES[String(role)] ?? 'input_text', text }
}

function invalid(why: string): GatewayError {
  return new GatewayError('invalid_request', `${why}.`)
}
