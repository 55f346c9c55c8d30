import type { Exchange } from 'turnpike/plugin'
import { targetsWithNamed } from 'turnpike/plugin/spend'

/**
 * Models that reason in secret: the tokens are billed and never seen. Their names may have a maker's before them, and a
 * variant's behind them. `gemini-flash-latest` and its like are the newest, which reason.
 */
const HIDDEN_REASONING =
  /(?:^|\/)(?:o[1-9](?![\w.])|codex-|gpt-(?!5-chat)[5-9]|grok-[4-9]|gemini-(?!1\.|2\.0)|sonar-deep-research)/i

/** Whether a reply shows what it costs while it runs: it streams, and nothing is generated that is not in the stream. */
export function isMetered(exchange: Exchange): boolean {
  if (!exchange.wantsStream || answersOf(exchange) > 1 || thinks(exchange) || hidesReasoning(exchange)) return false
  return !targetsWithNamed(exchange.targets, exchange.client.document).some(({ model }) => HIDDEN_REASONING.test(model))
}

/**
 * Whether Claude is asked to think: it shows a summary of its thoughts, or nothing, and bills all of them (Claude API,
 * "Extended thinking": summarized thinking).
 */
function thinks({ request }: Exchange): boolean {
  const thinking = request.field('thinking')
  return typeof thinking === 'object' && thinking !== null && 'type' in thinking && thinking.type !== 'disabled'
}

/** Whether whatever the model reasons is left out of the reply (OpenRouter: "Reasoning tokens"; Groq: "Reasoning"). */
function hidesReasoning({ client: { document } }: Exchange): boolean {
  const reasoning = document.field('reasoning')
  if (typeof reasoning === 'object' && reasoning !== null && 'exclude' in reasoning && reasoning.exclude) return true
  return document.field('include_reasoning') === false || document.field('reasoning_format') === 'hidden'
}

/** How many answers are asked for. */
export function answersOf({ client }: Exchange): number {
  const n = client.dialect.name === 'chat' ? client.document.field('n') : 1
  return typeof n === 'number' && n >= 1 ? Math.floor(n) : 1
}
