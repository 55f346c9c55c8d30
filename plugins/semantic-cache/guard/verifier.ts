import { FEATURE_NAMES, featuresOf } from './features.ts'
import type { Pair } from './pair.ts'
import weights from './verifier-weights.json' with { type: 'json' }

/**
 * How likely it is, between 0 and 1, that the pair has one answer, given that no rule has refused it: logistic regression
 * over the features. `scripts/train-verifier.ts` makes the weights, from pairs that it generates itself.
 */
export function likelihoodOf(pair: Pair, cosine: number): number {
  const features = featuresOf(pair, cosine)
  const sum = FEATURE_NAMES.reduce((total, name, i) => total + weights.weights[name] * (features[i] ?? 0), weights.bias)
  return 1 / (1 + Math.exp(-sum))
}

/** The least likelihood that mode `strict` accepts. */
export const STRICT_LIKELIHOOD: number = weights.threshold
