/**
 * DESIGN — from judged pairs to the least score that may be served
 *
 * Learn, then test (Angelopoulos and others, 2021), in a fixed sequence: the pairs are ranked by score; the hypothesis
 * "among what scores this or more, more than delta are wrong" is tested for the best 149 of them (for 2 %), then for a
 * few more, and so on, until one cannot be rejected at 5 %. The sequence depends on counts and scores alone, never on
 * the verdicts, and stops at the first that stands: so all tests together err with 5 % at most, however many they are.
 *
 * Audits are drawn with a chance below 1, so what is served is rarer among the pairs than among requests. A right one
 * counts once all the same, and a wrong one for all that it stands for: what scores more is less often wrong, so both
 * can only raise the share of wrong ones.
 */
const ALPHA = 0.05
const STEP = 1.1

/** A pair whose answer was found right or wrong for the text that was asked. */
export interface JudgedPair {
  readonly score: number
  readonly isWrong: boolean
  /** How many pairs it stands for if it is wrong: 1 / the chance with which it was drawn. */
  readonly weight: number
}

/** What may be served, and the bound that was proven for it. */
export interface Calibration {
  readonly leastScore: number
  /** Of the share of wrong ones, at 95 %. */
  readonly upperBound: number
}

/** Clean pairs that it takes at least to serve anything: 149 for a delta of 0.02. */
export function neededPairs(delta: number): number {
  return Math.ceil(Math.log(ALPHA) / Math.log(1 - delta))
}

/** The least score that may be served; `undefined` when there is none. */
export function calibrate(pairs: readonly JudgedPair[], delta: number): Calibration | undefined {
  const ranked = pairs.toSorted((a, b) => b.score - a.score)
  let next = neededPairs(delta)
  let wrong = 0
  let proven: Calibration | undefined
  for (const [i, { score, isWrong, weight }] of ranked.entries()) {
    if (isWrong) wrong += weight
    const size = i + 1
    // Pairs of one score are served together or not at all.
    if (size < next || ranked[size]?.score === score) continue
    const sample = { size, wrong: Math.ceil(wrong) }
    if (tailOf(sample, delta) > ALPHA) break
    proven = { leastScore: score, upperBound: upperBoundOf(sample) }
    next = size * STEP
  }
  return proven
}

interface Sample {
  readonly size: number
  readonly wrong: number
}

/** How likely at most `wrong` of `size` are wrong when each is with this chance: the binomial's lower tail. */
function tailOf({ size, wrong }: Sample, chance: number): number {
  let term = (1 - chance) ** size
  let sum = term
  for (let k = 1; k <= wrong; k++) {
    term *= ((size - k + 1) / k) * (chance / (1 - chance))
    sum += term
  }
  return Math.min(1, sum)
}

const HALVINGS = 30

/** Clopper and Pearson's upper bound. */
function upperBoundOf(sample: Sample): number {
  let [low, high] = [0, 1]
  for (let i = 0; i < HALVINGS; i++) {
    const middle = (low + high) / 2
    if (tailOf(sample, middle) > ALPHA) low = middle
    else high = middle
  }
  return high
}
