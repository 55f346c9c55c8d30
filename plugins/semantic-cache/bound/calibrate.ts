/**
 * DESIGN — from judged pairs to the least score that may be served
 *
 *   score   high ─ start ─┬─┬─┬─┬─┬─┬─┬─ start ─┬─┬─┬─┬─┬─┬─ low      levels, fixed beforehand
 *   proven                               ██████████████               from a start on, while each level in turn holds
 *
 * Learn, then test (Angelopoulos and others, 2021), by betting, so that looking again after every pair costs nothing
 * (Ramdas and others, "Game-theoretic statistics", 2023). For each level, "of what scores this or more, delta or more is
 * wrong" is the house's claim; a gambler who starts with 1 bets on fewer, by the rule of three players who think that
 * 0.15, 0.35 and 0.55 of delta are. If the claim is true, his fortune exceeds 1 / alpha at any time, however often one
 * looks, with a chance of alpha at most (Ville). The levels are tested from two starts towards lower scores (Wiens'
 * fallback procedure): a level that is proven passes its alpha on, one that is not stops it. So all levels and all looks
 * together err with 5 % at most.
 *
 * What is promised is about the rule, for pairs to come that are like those judged, and not about the luck of a few
 * answers. Audits are drawn by chance, so that the best scores are rarer among the pairs than among requests; a higher
 * score must not be wrong more often, then the pairs can only look worse than what is served.
 */
const ALPHA = 0.05
/** In log-odds above those of an answer that is as often right as is promised, and what of alpha starts there. */
const STARTS = [
  { above: 2.5, alpha: 0.01 },
  { above: 0.5, alpha: 0.04 },
] as const
const [{ above: HIGHEST }, { alpha: MAIN_ALPHA }] = STARTS
const STEP = 0.25
const LEVELS = 21
const KEPT_OF_LEVEL = 500
/** Of alpha, by level. */
const ALPHAS: ReadonlyMap<number, number> = new Map(
  STARTS.map(({ above, alpha }) => [Math.round((HIGHEST - above) / STEP), alpha]),
)
/** Of delta: what the players think is wrong. */
const SHARES = [0.15, 0.35, 0.55]

/** A pair whose answer was found right or wrong for the text that was asked. */
export interface JudgedPair {
  readonly score: number
  readonly isWrong: boolean
}

/** What may be served, and the bound that was proven for it. */
export interface Calibration {
  readonly leastScore: number
  /** Of the share of wrong ones, at 95 %. */
  readonly upperBound: number
}

/** Clean pairs that it takes at least to serve anything: 225 for a delta of 0.02. */
export function neededPairs(delta: number): number {
  let size = 1
  while (fortuneOf({ size, wrong: 0 }, delta) * MAIN_ALPHA < 1) size++
  return size
}

/** The least score that may be served; `undefined` when there is none. */
export function calibrate(pairs: readonly JudgedPair[], delta: number): Calibration | undefined {
  let sample: Sample = { size: 0, wrong: 0 }
  let passedOn = 0
  let proven: Calibration | undefined
  for (const [level, { size, wrong }] of samplesOf(pairs, delta).entries()) {
    sample = { size: sample.size + size, wrong: sample.wrong + wrong }
    const alpha = passedOn + (ALPHAS.get(level) ?? 0)
    const isProven = fortuneOf(sample, delta) * alpha >= 1
    if (isProven) proven = { leastScore: scoreOf(level, delta), upperBound: upperBoundOf(sample) }
    passedOn = isProven ? alpha : 0
  }
  return proven
}

interface Sample {
  readonly size: number
  readonly wrong: number
}

/** The pairs between each level and the one above. */
function samplesOf(pairs: readonly JudgedPair[], delta: number): Sample[] {
  const samples = Array.from({ length: LEVELS }, () => ({ size: 0, wrong: 0 }))
  for (const { score, isWrong } of pairs) {
    const sample = samples[levelOf(score, delta)]
    if (sample === undefined) continue
    sample.size++
    if (isWrong) sample.wrong++
  }
  return samples
}

/** The newest pairs of each level, and of what scores less than all: whatever is forgotten goes by counts, never by verdicts. */
export function newestOf(pairs: readonly JudgedPair[], delta: number): JudgedPair[] {
  const counts = new Uint32Array(LEVELS + 1)
  const isNew = ({ score }: JudgedPair) => {
    const level = Math.min(LEVELS, levelOf(score, delta))
    counts[level] = (counts[level] ?? 0) + 1
    return (counts[level] ?? 0) <= KEPT_OF_LEVEL
  }
  return pairs.toReversed().filter(isNew).reverse()
}

/** The first level that takes this score in. */
function levelOf(score: number, delta: number): number {
  return Math.max(0, Math.ceil((scoreOf(0, delta) - score) / STEP))
}

/** The least score of a level. */
function scoreOf(level: number, delta: number): number {
  return Math.log((1 - delta) / delta) + HIGHEST - level * STEP
}

/** What 1 has become for who bet against this share of wrong ones or more. */
function fortuneOf({ size, wrong }: Sample, claimed: number): number {
  const fortunes = SHARES.map((share) =>
    Math.exp(wrong * Math.log(share) + (size - wrong) * Math.log((1 - share * claimed) / (1 - claimed))),
  )
  return fortunes.reduce((sum, fortune) => sum + fortune) / SHARES.length
}

const HALVINGS = 30

/** The least share whose claim is refuted. */
function upperBoundOf(sample: Sample): number {
  let [low, high] = [0, 1]
  for (let i = 0; i < HALVINGS; i++) {
    const middle = (low + high) / 2
    if (fortuneOf(sample, middle) * ALPHA < 1) low = middle
    else high = middle
  }
  return high
}
