import { isObject } from '../../core/json/json-value.ts'
import type { Exchange } from '../../core/request/exchange.ts'
import type { RequestedEffort } from '../../dialects/chat/to-chat-request.ts'

const FIELDS = /^(?:thinking|output_config)(?:\.|$)/

/**
 * Returns the effort that a client of OpenAI's dialects requests, by its own name: the canonical request of most models has a
 * budget in its place. `undefined` when there is none, or a plugin has set another.
 */
export function requestedEffort(exchange: Exchange): RequestedEffort | undefined {
  if (exchange.edits.some(({ paths }) => paths.some((path) => FIELDS.test(path)))) return undefined
  const { dialect, client } = exchange
  if (dialect.name === 'responses') {
    const reasoning = client.document.field('reasoning')
    return isObject(reasoning) ? named('reasoning.effort', reasoning.effort) : undefined
  }
  const isOwn = dialect.name === 'chat' && !isObject(client.document.field('thinking'))
  return isOwn ? named('reasoning_effort', client.document.field('reasoning_effort')) : undefined
}

function named(field: string, word: unknown): RequestedEffort | undefined {
  return typeof word === 'string' ? { field, word } : undefined
}
