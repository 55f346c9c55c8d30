import type { Exchange } from 'turnpike/plugin'

/** Models that reason in secret: the tokens are billed and never seen. Their names may have a maker's before them. */
const HIDDEN_REASONING = /(?:^|\/)(?:o[1-9](?:-|$)|gpt-[5-9](?!.*chat)|grok-[4-9]|gemini-(?:2\.5|[3-9]))/

/** Whether a reply shows what it costs while it runs: it streams, and nothing is generated that is not in the stream. */
export function isMetered(exchange: Exchange): boolean {
  if (!exchange.wantsStream || answersOf(exchange) > 1 || thinks(exchange)) return false
  return !exchange.targets.some(({ model }) => HIDDEN_REASONING.test(model))
}

/**
 * Whether Claude is asked to think: it shows a summary of its thoughts, or nothing, and bills all of them (Claude API,
 * "Extended thinking": summarized thinking).
 */
function thinks({ request }: Exchange): boolean {
  const thinking = request.field('thinking')
  return typeof thinking === 'object' && thinking !== null && 'type' in thinking && thinking.type !== 'disabled'
}

/** How many answers are asked for. */
export function answersOf({ client }: Exchange): number {
  const n = client.dialect.name === 'chat' ? client.document.field('n') : 1
  return typeof n === 'number' && n >= 1 ? Math.floor(n) : 1
}
