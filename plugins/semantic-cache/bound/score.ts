import type { Neighbour } from '../scope-index.ts'
import { type Candidate, SCORE_FEATURES, scoreFeaturesOf } from './features.ts'

const BIAS = -3.8
/** Fitted to one half of labelled intents, rounded. The bound does not rest on them: a bad score only serves less. */
const WEIGHTS: Readonly<Record<(typeof SCORE_FEATURES)[number], number>> = {
  cosine: 2.5,
  likelihood: 1.7,
  matched: 3.8,
  onlyAsked: -1,
  onlyCached: -0.3,
  strict: 1,
  agreement: 3.4,
  company: 1.4,
}

/** How sure it is that a candidate's answer fits, as log-odds; above 3 hardly any is wrong, below 0 most are. */
export function scoreOf(candidate: Candidate, neighbours: readonly Neighbour[]): number {
  const features = scoreFeaturesOf(candidate, neighbours)
  return SCORE_FEATURES.reduce((sum, name, i) => sum + WEIGHTS[name] * (features[i] ?? 0), BIAS)
}
