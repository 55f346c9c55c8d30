import { costOf, type Estimate, tokensFor } from 'turnpike/plugin/spend'
import type { Hold } from './hold.ts'

/**
 * DESIGN — amount of a request's hold at admission
 *
 * A reply that can be metered while it streams holds the usual cost of a reply, and its hold grows with it. A JSON
 * reply, or one with hidden reasoning, holds the most it can cost, as long as the budget is ample: then others are not
 * affected. Otherwise its `max_tokens` is lowered: to twice the usual, then to the usual, and finally to the remainder.
 * Only a remainder below the floor is refused.
 *
 *     worst case ──not ample───► twice the usual ──not enough──► the usual ──does not fit──► remainder
 *                                                                         429 ◄──below the floor──┘
 *
 * A large request is first estimated by its size, which costs nothing, and holds that much if the budget has room for many
 * more of it. Only where it has not is the request weighed, which takes longer than all other work on it.
 *
 * The ledger tests for an ample budget in the statement that holds the money: otherwise all requests of a burst would
 * see an empty window, and the first few would take it all.
 */
export interface Admission {
  /** Lowered output limit that the request is sent with; `undefined` when unchanged. */
  readonly maxTokens: number | undefined
  /** Estimate of which the hold was made, by weight or by size, and the output tokens that it covers. */
  readonly estimate: Estimate
  readonly heldTokens: number
}

/** Inputs of the decision. */
export interface AdmissionFacts {
  /** Returns the estimate by weight. */
  readonly weigh: () => Estimate
  /** Estimate by size: dearer. `undefined` where the size is no bound. */
  readonly bySize: Estimate | undefined
  /** Remainder of the caller's budget at its last request: only a hint. */
  readonly lastLeftNanoUsd: number
  /** Output tokens that such replies usually stay below. */
  readonly expectedTokens: number
  /** Output tokens that the request allows. */
  readonly maxTokens: number
  readonly isMetered: boolean
  /** Permission to lower `max_tokens`, and its least value. */
  readonly clamp: { readonly isOn: boolean; readonly floorTokens: number }
}

/**
 * Ample budget: room for this many more holds of the same amount. Tested for the worst case, then for twice the usual.
 */
const PLENTY = 9
const ENOUGH = 24
const USUAL_FACTOR = 2
/** Most attempts: each window may refuse once, and others may take the remainder meanwhile. */
const MOST_TRIES = 8

/** Holds money for a request. Throws `cost_limit_per_request`, `…_per_day`, `…_per_month`. */
export async function admit(hold: Hold, facts: AdmissionFacts): Promise<Admission> {
  const bySize = await holdBySize(hold, facts)
  if (bySize !== undefined) return bySize
  const { clamp, isMetered, maxTokens } = facts
  const estimate = facts.weigh()
  const mayBeLess = clamp.isOn || isMetered
  const most = mayBeLess ? Math.min(maxTokens, tokensFor(estimate, hold.perRequestNanoUsd)) : maxTokens
  const floorTokens = Math.min(clamp.floorTokens, maxTokens)
  const usual = Math.max(floorTokens, Math.min(most, facts.expectedTokens))
  if (clamp.isOn && !isMetered) {
    const generous = await holdGenerously(hold, { estimate, most, usual })
    if (generous !== undefined) return admitted(generous, estimate, facts)
  }
  let wanted = mayBeLess ? usual : maxTokens
  for (let tries = 1; ; tries++) {
    const refused = await hold.reserve(costOf(estimate, wanted))
    if (refused === undefined) return admitted(wanted, estimate, facts)
    const fitting = Math.min(tokensFor(estimate, refused.fitsNanoUsd), wanted - 1)
    if (!mayBeLess || fitting < floorTokens || tries === MOST_TRIES) throw refused.refuse()
    wanted = tries === MOST_TRIES - 1 ? floorTokens : fitting
  }
}

/** Holds the estimate by size when the budget is ample even for that. */
async function holdBySize(hold: Hold, facts: AdmissionFacts): Promise<Admission | undefined> {
  const { bySize: estimate, clamp, isMetered, maxTokens, expectedTokens } = facts
  if (estimate === undefined) return undefined
  const tokens = isMetered
    ? Math.max(Math.min(clamp.floorTokens, maxTokens), Math.min(maxTokens, expectedTokens))
    : maxTokens
  const nanoUsd = costOf(estimate, tokens)
  if (nanoUsd > hold.perRequestNanoUsd || (ENOUGH + 1) * nanoUsd > facts.lastLeftNanoUsd) return undefined
  const refused = await hold.reserve(nanoUsd, ENOUGH * nanoUsd)
  return refused === undefined ? admitted(tokens, estimate, facts) : undefined
}

/** Holds more than the usual when the budget is ample. Returns the held tokens, if any. */
async function holdGenerously(
  hold: Hold,
  { estimate, most, usual }: { estimate: Estimate; most: number; usual: number },
): Promise<number | undefined> {
  const twice = Math.min(most, USUAL_FACTOR * usual)
  for (const [tokens, spare] of [
    [most, PLENTY],
    [twice, ENOUGH],
  ] as const) {
    const nanoUsd = costOf(estimate, tokens)
    if (tokens > usual && (await hold.reserve(nanoUsd, spare * nanoUsd)) === undefined) return tokens
  }
  return undefined
}

function admitted(heldTokens: number, estimate: Estimate, { isMetered, maxTokens }: AdmissionFacts): Admission {
  return { maxTokens: isMetered || heldTokens >= maxTokens ? undefined : heldTokens, estimate, heldTokens }
}
