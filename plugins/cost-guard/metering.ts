import type { Exchange } from 'turnpike/plugin'
import { targetsWithNamed } from 'turnpike/plugin/spend'
import { longestLimitOf } from './longest-limit.ts'

/**
 * Matches models with hidden reasoning: the tokens are billed but not sent. Names may have a vendor prefix and a
 * variant suffix. `gemini-flash-latest` and its like are the newest, which reason.
 */
const HIDDEN_REASONING =
  /(?:^|\/)(?:o[1-9](?![\w.])|codex-|gpt-(?!5-chat)[5-9]|grok-[4-9]|gemini-(?!1\.|2\.0)|sonar-deep-research)/i

/** Tests for a reply whose cost can be metered while it streams: every generated token is in the stream. */
export function isMetered(exchange: Exchange): boolean {
  if (!exchange.wantsStream || runsOn(exchange)) return false
  if (answersOf(exchange) > 1 || thinks(exchange) || hidesReasoning(exchange)) return false
  return !mayReasonHidden(exchange)
}

/** Tests for a response that its provider produces to its end, also when its client has disconnected (OpenAI, "Background mode"). */
export function runsOn({ dialect, client: { document } }: Exchange): boolean {
  return dialect.name === 'responses' && document.field('background') === true
}

/**
 * Tests for a request whose reply has no limit but the one that is held, and that must be sent: the client sent none, and
 * the reply cannot be metered. Models without reasoning are sent only one that they are known to take: they refuse a limit
 * above their maximum, which is then below what is held.
 */
export function needsLimit(exchange: Exchange): boolean {
  if (!exchange.client.assumed.includes('max_tokens') || isMetered(exchange)) return false
  const reasons = thinks(exchange) || hidesReasoning(exchange) || mayReasonHidden(exchange)
  return reasons || exchange.targets.every(({ model }) => exchange.request.maxTokens <= longestLimitOf(model))
}

function mayReasonHidden({ targets, client }: Exchange): boolean {
  return targetsWithNamed(targets, client.document).some(({ model }) => HIDDEN_REASONING.test(model))
}

/**
 * Tests for a request with Claude's thinking: the reply has a summary of it, or nothing, and all of it is billed
 * (Claude API, "Extended thinking": summarized thinking).
 */
function thinks({ request }: Exchange): boolean {
  const thinking = request.field('thinking')
  return typeof thinking === 'object' && thinking !== null && 'type' in thinking && thinking.type !== 'disabled'
}

/** Tests for a request that omits reasoning from the reply (OpenRouter: "Reasoning tokens"; Groq: "Reasoning"). */
function hidesReasoning({ client: { document } }: Exchange): boolean {
  const reasoning = document.field('reasoning')
  if (typeof reasoning === 'object' && reasoning !== null && 'exclude' in reasoning && reasoning.exclude) return true
  return document.field('include_reasoning') === false || document.field('reasoning_format') === 'hidden'
}

/** Returns the number of choices requested. */
export function answersOf({ client }: Exchange): number {
  const n = client.dialect.name === 'chat' ? client.document.field('n') : 1
  return typeof n === 'number' && n >= 1 ? Math.floor(n) : 1
}
