import type { Exchange } from 'turnpike/plugin'
import { costOf, type Estimate, tokensFor } from './estimate.ts'
import type { Hold } from './hold.ts'

/**
 * DESIGN — what is held when a request is admitted
 *
 * A reply that can be metered while it runs holds what answers usually cost, and its hold grows with it. One that comes
 * in one piece, or thinks in secret, holds the most it can cost. Where that does not fit, or would take a large part of
 * what is left from everybody else, its `max_tokens` is lowered instead: to twice what such answers usually have, and
 * at the very end to what is left. Only what does not even pay for the floor is refused.
 *
 *     worst case ──too much──► twice the usual ──does not fit──► what is left ──below the floor──► 429
 */
export interface Admission {
  /** The bound that the request goes out with, when it had to be lowered. */
  readonly maxTokens: number | undefined
}

/** What decides about an admission. */
export interface AdmissionFacts {
  readonly estimate: Estimate
  /** Output tokens that such answers usually stay below. */
  readonly expectedTokens: number
  /** Output tokens that the request allows. */
  readonly maxTokens: number
  readonly isMetered: boolean
  /** Whether `max_tokens` may be lowered, and to how little. */
  readonly clamp: { readonly isOn: boolean; readonly floorTokens: number }
  /** The smallest bound of all; `undefined`: there is none. */
  readonly tightestNanoUsd: number | undefined
}

/** More of a bound than this one request may not hold to begin with, unless it needs no more than is usual. */
const LARGE_SHARE = 0.25
const USUAL_FACTOR = 2

/** Holds money for a request. Throws `cost_limit_per_request`, `…_per_day`, `…_per_month`. */
export async function admit(hold: Hold, facts: AdmissionFacts): Promise<Admission> {
  const { estimate, maxTokens, clamp } = facts
  const floorTokens = Math.min(clamp.floorTokens, maxTokens)
  const wished = wishedTokens(facts)
  const refused = await hold.reserve(costOf(estimate, wished))
  if (refused === undefined) return admitted(wished, facts)
  const fitting = Math.min(tokensFor(estimate, refused.fitsNanoUsd), wished)
  const mayBeLess = clamp.isOn || facts.isMetered
  if (!mayBeLess || fitting < floorTokens) throw refused.refuse()
  // Somebody may have taken what was left meanwhile: then the floor is tried, and that is all.
  if ((await hold.reserve(costOf(estimate, fitting))) === undefined) return admitted(fitting, facts)
  const last = await hold.reserve(costOf(estimate, floorTokens))
  if (last === undefined) return admitted(floorTokens, facts)
  throw last.refuse()
}

/** What is asked for first. */
function wishedTokens({ estimate, expectedTokens, maxTokens, isMetered, clamp, tightestNanoUsd }: AdmissionFacts) {
  if (isMetered) return Math.min(maxTokens, expectedTokens)
  const isLarge = tightestNanoUsd !== undefined && costOf(estimate, maxTokens) > tightestNanoUsd * LARGE_SHARE
  return clamp.isOn && isLarge ? Math.min(maxTokens, USUAL_FACTOR * expectedTokens) : maxTokens
}

function admitted(tokens: number, { isMetered, maxTokens }: AdmissionFacts): Admission {
  return { maxTokens: isMetered || tokens >= maxTokens ? undefined : tokens }
}

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

/** The API's own least budget of thinking. */
const LEAST_BUDGET_TOKENS = 1024
