import type { Pair } from '../guard/pair.ts'
import type { Neighbour } from '../scope-index.ts'

/** What a score is made of, by name. Each between 0 and 1. */
export const SCORE_FEATURES = [
  'cosine',
  'likelihood',
  'matched',
  'onlyAsked',
  'onlyCached',
  'strict',
  'agreement',
  'company',
] as const

const MANY_MATCHED = 5
const MANY_UNMATCHED = 4
/** What nobody else asks for is often asked for by mistake. */
const MUCH_COMPANY = 10
/** Neighbours count by a power of their cosine: the far ones hardly do. */
const VOTE_POWER = 4

/** What is known of a neighbour besides its vector. */
export interface Candidate {
  readonly neighbour: Neighbour
  readonly pair: Pair
  readonly likelihood: number
  /** Whether the strict rules let it through too. */
  readonly isStrict: boolean
}

/** The features of a candidate among all neighbours, in the order of their names. */
export function scoreFeaturesOf(candidate: Candidate, neighbours: readonly Neighbour[]): number[] {
  const { neighbour, pair, likelihood, isStrict } = candidate
  const [matched, asked, cached] = [pair.matched.length, pair.unmatchedAsked.length, pair.unmatchedCached.length]
  return [
    neighbour.cosine,
    likelihood,
    Math.min(1, matched / MANY_MATCHED),
    Math.min(1, asked / MANY_UNMATCHED),
    Math.min(1, cached / MANY_UNMATCHED),
    isStrict ? 1 : 0,
    agreementOf(neighbour, neighbours),
    Math.min(1, neighbours.length / MUCH_COMPANY),
  ]
}

/** The share of the neighbours' votes that are for this one's reply: texts that were found to have one answer share it. */
function agreementOf({ entry }: Neighbour, neighbours: readonly Neighbour[]): number {
  let [own, all] = [0, 0]
  for (const other of neighbours) {
    const vote = other.cosine ** VOTE_POWER
    all += vote
    if (other.entry.id === entry.id) own += vote
  }
  return all === 0 ? 0 : own / all
}
