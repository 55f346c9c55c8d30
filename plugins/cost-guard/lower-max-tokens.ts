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
  const lowersThinking = typeof budget === 'number' && budget >= maxTokens
  // With less thinking any reply may differ from the requested one, not only a cut one.
  exchange.limitAnswer({ outputTokens: lowersThinking ? 0 : maxTokens })
  if (!lowersThinking) return
  const canThink = maxTokens > LEAST_BUDGET_TOKENS
  exchange.edit(
    canThink
      ? { op: 'replace', path: ['thinking', 'budget_tokens'], value: maxTokens - 1 }
      : { op: 'remove', path: ['thinking'] },
  )
}

/** Sets the limit that the gateway has assumed as one that every provider is sent. */
export function sendMaxTokens(exchange: Exchange): void {
  const { maxTokens } = exchange.request
  exchange.edit({ op: 'replace', path: ['max_tokens'], value: maxTokens })
  exchange.limitAnswer({ outputTokens: maxTokens })
}
