import type { Exchange } from 'turnpike/plugin'

/** The API's own least budget of thinking. */
const LEAST_BUDGET_TOKENS = 1024

/** Lowers the request's own bound, and with it the budget of its thinking, which must stay below. */
export function lowerMaxTokens(exchange: Exchange, maxTokens: number): void {
  const thinking = exchange.request.field('thinking')
  const budget =
    typeof thinking === 'object' && thinking !== null && 'budget_tokens' in thinking
      ? thinking.budget_tokens
      : undefined
  exchange.edit({ op: 'replace', path: ['max_tokens'], value: maxTokens })
  if (typeof budget !== 'number' || budget < maxTokens) return
  const isRoom = maxTokens > LEAST_BUDGET_TOKENS
  exchange.edit(
    isRoom
      ? { op: 'replace', path: ['thinking', 'budget_tokens'], value: maxTokens - 1 }
      : { op: 'remove', path: ['thinking'] },
  )
}
