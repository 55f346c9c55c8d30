import { isObject, type JsonObject } from '../../../core/json/json-value.ts'
import type { DroppedFields } from '../../../core/request/dropped-fields.ts'
import { listAt, textAt } from '../../chat/request/chat-fault.ts'
import { dropLeftovers, isNothing, type Leftovers } from '../../chat/request/json-value.ts'

/** The version of Anthropic's tool that every model with web search has. */
const WEB_SEARCH = 'web_search_20250305'
const KNOWN: Leftovers = {
  known: new Set(['type', 'filters', 'user_location', 'external_web_access', 'indexed_web_access']),
  place: 'tools',
}
const FILTERS: Leftovers = { known: new Set(['allowed_domains', 'blocked_domains']), place: 'tools.filters' }

/**
 * Returns the provider's web search in the Messages shape, for so many searches at most: each has a fee, and is read in one
 * more round. For a model that has none, and for a search without access to the
 * web, in OpenAI's own index alone, the tool is dropped, and reported: Codex offers it in every request.
 */
export function toWebSearch(
  tool: JsonObject,
  { path, searches }: { path: string; searches: number },
  droppedFields: DroppedFields,
): JsonObject[] {
  if (searches === 0 || tool.external_web_access === false) {
    droppedFields.drop('tools.web_search')
    return []
  }
  dropLeftovers(tool, KNOWN, droppedFields)
  const filters = isObject(tool.filters) ? tool.filters : {}
  dropLeftovers(filters, FILTERS, droppedFields)
  return [
    {
      type: WEB_SEARCH,
      name: 'web_search',
      max_uses: searches,
      ...domainsIn(filters, 'allowed_domains', path),
      ...domainsIn(filters, 'blocked_domains', path),
      ...(isObject(tool.user_location) && { user_location: { type: 'approximate', ...placeOf(tool.user_location) } }),
    },
  ]
}

function domainsIn(filters: JsonObject, name: string, path: string): JsonObject {
  if (isNothing(filters[name])) return {}
  const at = `${path}.filters.${name}`
  return { [name]: listAt(filters[name], at).map((domain, index) => textAt(domain, `${at}[${index}]`)) }
}

/** Returns the parts of a location that are set: the Messages API takes no null. */
function placeOf(location: JsonObject): JsonObject {
  const names = ['city', 'region', 'country', 'timezone']
  return Object.fromEntries(names.flatMap((name) => (isNothing(location[name]) ? [] : [[name, location[name]]])))
}
