import type { Edit } from '../../core/json/splice.ts'
import type { Reply } from '../../core/reply/reply.ts'
import { DroppedFields } from '../../core/request/dropped-fields.ts'
import type { Exchange, Target } from '../../core/request/exchange.ts'
import type { RequestDocument } from '../../core/request/request.ts'
import { claudeTraitsOf } from '../../dialects/chat/request/claude-traits.ts'
import { addDroppedFields } from '../dropped-fields-header.ts'
import { withoutWebSearch } from '../web-search.ts'
import { foreignThinking, refusesSignature } from './foreign-thinking.ts'
import { jsonObjectEdits } from './json-object.ts'

const HIGHEST_TEMPERATURE = 1

/** A provider's part of a call. */
export interface ClaudeCall {
  send(request: RequestDocument): Promise<Reply>
  /** True when the provider has Claude's search of the web, for the models that can search. */
  readonly hasWebSearch: boolean
}

/**
 * Sends a request to a provider of the Messages API. A client's body of the same dialect stays unchanged, except for the
 * model's name, where it has a prefix or is an alias, and other providers' thinking, once the API has refused it.
 * Throws `invalid_request` for a request of another dialect that cannot be expressed here, and the errors of `send`.
 */
export async function askClaude(
  exchange: Exchange,
  target: Target,
  { send, hasWebSearch }: ClaudeCall,
): Promise<Reply> {
  const droppedFields = new DroppedFields()
  const searches = hasWebSearch && claudeTraitsOf(target.model)?.searchesWeb === true
  const carried = searches ? exchange.request : withoutWebSearch(exchange, droppedFields)
  const request = claudeRequest(carried, { exchange, target }, droppedFields)
  const reply = await send(request)
  const edits = refusesSignature(reply) ? foreignThinking(request, droppedFields) : []
  return addDroppedFields(edits.length === 0 ? reply : await send(request.edited(edits)), droppedFields)
}

function claudeRequest(
  request: RequestDocument,
  { exchange, target: { provider, model } }: { exchange: Exchange; target: Target },
  droppedFields: DroppedFields,
): RequestDocument {
  const edits: Edit[] = request.model === model ? [] : [{ op: 'replace', path: ['model'], value: model }]
  if (exchange.dialect.name !== 'messages') {
    droppedFields.add(exchange.client.droppedFields)
    edits.push(...withinLimits(request, droppedFields))
    droppedFields.assertCarried(provider)
  }
  return edits.length === 0 ? request : request.edited(edits)
}

/** Returns edits that replace options that this API does not have by their nearest equivalent. */
function withinLimits(request: RequestDocument, droppedFields: DroppedFields): Edit[] {
  const edits = jsonObjectEdits(request)
  const temperature = request.field('temperature')
  if (typeof temperature !== 'number' || temperature <= HIGHEST_TEMPERATURE) return edits
  droppedFields.drop('temperature')
  return [...edits, { op: 'replace', path: ['temperature'], value: HIGHEST_TEMPERATURE }]
}
