import type { Exchange } from 'turnpike/plugin'

/** Least thinking budget that the API accepts. */
const LEAST_BUDGET_TOKENS = 1024

/**
 * Lowers the request's output limit, and its thinking budget, which must be smaller. Declares that the reply may be
 * shorter than requested, or with less thinking.
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
