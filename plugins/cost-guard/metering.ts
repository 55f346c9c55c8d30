import type { Exchange } from 'turnpike/plugin'

/** Models that reason in secret: the tokens are billed and never seen. */
const HIDDEN_REASONING = /^(?:o[1-9](?:-|$)|gpt-5(?!.*chat)|grok-4|gemini-(?:2\.5|[3-9]))/

/** Whether a reply shows what it costs while it runs: it streams, and nothing is generated that is not in the stream. */
export function isMetered(exchange: Exchange): boolean {
  if (!exchange.wantsStream || asksOneOfMany(exchange)) return false
  const thinking = exchange.request.field('thinking')
  if (typeof thinking === 'object' && thinking !== null && 'display' in thinking && thinking.display === 'omitted')
    return false
  return !exchange.targets.some(({ model }) => HIDDEN_REASONING.test(model))
}

/** How many answers are asked for. */
export function answersOf({ client }: Exchange): number {
  const n = client.dialect.name === 'chat' ? client.document.field('n') : 1
  return typeof n === 'number' && n >= 1 ? Math.floor(n) : 1
}

function asksOneOfMany(exchange: Exchange): boolean {
  return answersOf(exchange) > 1
}
