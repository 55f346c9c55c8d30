import type { Exchange, Target } from '../../core/exchange.ts'
import { Losses } from '../../core/losses.ts'
import type { RequestDocument } from '../../core/request.ts'
import type { Edit } from '../../core/splice.ts'
import { foreignThinking } from './foreign-thinking.ts'

/** A request in the Messages shape, ready for a provider that speaks it. */
export interface ClaudeRequest {
  readonly request: RequestDocument
  readonly losses: Losses
}

/**
 * The request as a provider of the Messages API is sent it. What a client of the same dialect sent stays as it is, but
 * for the model's name, where it has a prefix, and thinking that other providers did, which this one would refuse.
 */
export function claudeRequest(exchange: Exchange, { provider, model }: Target): ClaudeRequest {
  const losses = new Losses()
  const { request } = exchange
  const edits: Edit[] = foreignThinking(request, losses)
  if (request.model !== model) edits.push({ op: 'replace', path: ['model'], value: model })
  if (exchange.dialect.name !== 'messages') {
    losses.add(exchange.client.losses)
    edits.push(...withinLimits(request, losses))
  }
  losses.assertCarried(provider)
  return { request: edits.length === 0 ? request : request.edited(edits), losses }
}

const HIGHEST_TEMPERATURE = 1

/** What clients of other dialects may ask and this API does not have. */
function withinLimits(request: RequestDocument, losses: Losses): Edit[] {
  // Safe: a canonical request that the gateway made itself.
  const output = request.field('output_config') as { format?: { type?: string } } | undefined
  if (output?.format?.type === 'json_object')
    losses.refuse('response_format', 'expected `json_schema`, got `json_object`; give a schema')
  const temperature = request.field('temperature')
  if (typeof temperature !== 'number' || temperature <= HIGHEST_TEMPERATURE) return []
  losses.drop('temperature')
  return [{ op: 'replace', path: ['temperature'], value: HIGHEST_TEMPERATURE }]
}
