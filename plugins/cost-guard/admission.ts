import { costOf, type Estimate, tokensFor } from 'turnpike/plugin/spend'
import type { Hold } from './hold.ts'

/**
 * DESIGN — what is held when a request is admitted
 *
 * A reply that can be metered while it runs holds what answers usually cost, and its hold grows with it. One that comes
 * in one piece, or thinks in secret, holds the most it can cost, as long as there is plenty: then others do not feel it.
 * Otherwise its `max_tokens` is lowered: to twice what such answers usually have, then to that, and at the very end to
 * what is left. Only what does not even pay for the floor is refused.
 *
 *     worst case ──not plenty──► twice the usual ──not enough──► the usual ──does not fit──► what is left
 *                                                                         429 ◄──below the floor──┘
 *
 * Whether there is plenty is asked of the ledger in the same statement that holds the money: of a burst that arrives at
 * once, all would otherwise see an empty window, and the first few would take it all.
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
}

/** The worst case is held while so many more of the kind would fit, and twice the usual while so many more would. */
const PLENTY = 9
const ENOUGH = 24
const USUAL_FACTOR = 2
/** Each window may refuse once, and others may take what was left meanwhile. */
const MOST_TRIES = 8

/** Holds money for a request. Throws `cost_limit_per_request`, `…_per_day`, `…_per_month`. */
export async function admit(hold: Hold, facts: AdmissionFacts): Promise<Admission> {
  const { estimate, clamp, isMetered, maxTokens } = facts
  const mayBeLess = clamp.isOn || isMetered
  const most = mayBeLess ? Math.min(maxTokens, tokensFor(estimate, hold.perRequestNanoUsd)) : maxTokens
  const floorTokens = Math.min(clamp.floorTokens, maxTokens)
  const usual = Math.max(floorTokens, Math.min(most, facts.expectedTokens))
  if (clamp.isOn && !isMetered) {
    const generous = await holdGenerously(hold, { estimate, most, usual })
    if (generous !== undefined) return admitted(generous, facts)
  }
  let wanted = mayBeLess ? usual : maxTokens
  for (let tries = 1; ; tries++) {
    const refused = await hold.reserve(costOf(estimate, wanted))
    if (refused === undefined) return admitted(wanted, facts)
    const fitting = Math.min(tokensFor(estimate, refused.fitsNanoUsd), wanted - 1)
    if (!mayBeLess || fitting < floorTokens || tries === MOST_TRIES) throw refused.refuse()
    wanted = tries === MOST_TRIES - 1 ? floorTokens : fitting
  }
}

/** Holds more than the usual, where others do not feel it. Gives the tokens that are held, if any. */
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

function admitted(tokens: number, { isMetered, maxTokens }: AdmissionFacts): Admission {
  return { maxTokens: isMetered || tokens >= maxTokens ? undefined : tokens }
}
