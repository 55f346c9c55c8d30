import type { Exchange } from 'turnpike/plugin'

/** The API's own least budget of thinking. */
const LEAST_BUDGET_TOKENS = 1024

/**
 * Lowers the request's own bound, and with it the budget of its thinking, which must stay below. Declares that the answer
 * may be shorter than the one that was asked for, or thought about less.
 */
export function lowerMaxTokens(exchange: Exchange, maxTokens: number): void {
  const thinking = exchange.request.field('thinking')
  const budget =
    typeof thinking === 'object' && thinking !== null && 'budget_tokens' in thinking
      ? thinking.budget_tokens
      : undefined
  if (maxTokens < exchange.request.maxTokens) exchange.edit({ op: 'replace', path: ['max_tokens'], value: maxTokens })
  const isLessThought = typeof budget === 'number' && budget >= maxTokens
  exchange.limitAnswer({ outputTokens: isLessThought ? 0 : maxTokens })
  if (!isLessThought) return
  const isRoom = maxTokens > LEAST_BUDGET_TOKENS
  exchange.edit(
    isRoom
      ? { op: 'replace', path: ['thinking', 'budget_tokens'], value: maxTokens - 1 }
      : { op: 'remove', path: ['thinking'] },
  )
}
