import type { Exchange } from 'turnpike/plugin'
import { markEdits, printMarks } from './mark-edits.ts'
import { LATER_MS } from './odds.ts'
import type { Outline } from './outline.ts'
import type { Plan } from './plan.ts'
import type { Terms } from './terms.ts'

/**
 * Odds of a further turn within an hour below which OpenAI gets the option not to write. Below what pays (0.22): its own choice is to
 * write all, and without evidence it stays so.
 */
const LEAST_ODDS = 0.1

/** Sets the marks of a plan, or has OpenAI not write the prompt; records what is expected, or why nothing is done. Returns true if it has edited the request. */
export function applyPlan(exchange: Exchange, plan: Plan, { writes, leastTokens }: Terms): boolean {
  if (plan.totalTokens >= leastTokens)
    return writes === 'all' ? applyOptions(exchange, plan) : applyMarks(exchange, plan)
  exchange.idle(`${plan.totalTokens} tokens: the model caches from ${leastTokens}`)
  return false
}

function applyMarks(exchange: Exchange, plan: Plan): boolean {
  const percent = Math.round(100 * plan.odds.soon)
  if (plan.marks.length === 0) {
    exchange.idle(`next turn within 5 minutes: ${percent} %, which does not pay for a write`)
    return false
  }
  exchange.edit(...markEdits(exchange.request, plan.marks))
  exchange.note('marked', {
    marks: printMarks(plan.marks),
    nextTurnPercent: percent,
    expectedReadTokens: plan.expectedReadTokens,
    expectedWriteTokens: plan.expectedWriteTokens,
  })
  return true
}

function applyOptions(exchange: Exchange, { odds, sinceTurnMs, unmarkedReadShare }: Plan): boolean {
  const percent = Math.round(100 * odds.later)
  const mayRead = (sinceTurnMs !== undefined && sinceTurnMs <= LATER_MS) || unmarkedReadShare >= LEAST_ODDS
  if (mayRead || odds.later >= LEAST_ODDS) {
    exchange.idle(`next turn within an hour: ${percent} %, so the provider writes the prompt`)
    return false
  }
  exchange.edit({ op: 'add', path: ['prompt_cache_options'], value: { mode: 'explicit' } })
  exchange.note('unwritten', { nextTurnPercent: percent, expectedReadTokens: 0, expectedWriteTokens: 0 })
  return true
}

/** Returns the outline without places for marks, for a provider without marks. */
export function withoutPlaces(outline: Outline): Outline {
  return { ...outline, shared: outline.shared.map((prefix) => ({ ...prefix, tokens: 0 })), placeIn: () => undefined }
}
