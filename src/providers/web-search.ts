import { isObject } from '../core/json/json-value.ts'
import type { Edit } from '../core/json/splice.ts'
import type { DroppedFields } from '../core/request/dropped-fields.ts'
import type { Exchange } from '../core/request/exchange.ts'
import type { RequestDocument } from '../core/request/request.ts'

const WEB_SEARCH = /^web_search_\d/

/**
 * Returns the request of a Responses client without the web search of its provider, for a provider or a model that has none:
 * Codex offers it in every request, so that the model can do without. A search that the client forces stays, to be refused, and
 * so does one of a client of another dialect.
 */
export function withoutWebSearch(exchange: Exchange, droppedFields: DroppedFields): RequestDocument {
  const { request, dialect } = exchange
  const edits = dialect.name === 'responses' ? searchEdits(request) : []
  if (edits.length === 0) return request
  droppedFields.drop('tools.web_search')
  return request.edited(edits)
}

function searchEdits(request: RequestDocument): Edit[] {
  const tools = request.field('tools')
  if (!Array.isArray(tools)) return []
  const edits = tools.flatMap((tool, index): Edit[] =>
    isWebSearch(tool) ? [{ op: 'remove', path: ['tools', index] }] : [],
  )
  if (edits.length === 0) return []
  const choice = request.field('tool_choice')
  const { type, name } = isObject(choice) ? choice : {}
  const isAlone = edits.length === tools.length
  const isForced = (type === 'tool' && name === 'web_search') || (type === 'any' && isAlone)
  if (isForced) return []
  if (!isAlone) return edits
  // A choice without tools is refused.
  const fields = choice === undefined ? ['tools'] : ['tools', 'tool_choice']
  return fields.map((field): Edit => ({ op: 'remove', path: [field] }))
}

function isWebSearch(tool: unknown): boolean {
  return isObject(tool) && typeof tool.type === 'string' && WEB_SEARCH.test(tool.type)
}
