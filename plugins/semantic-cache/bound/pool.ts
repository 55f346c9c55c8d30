import { type Calibration, calibrate, type JudgedPair, neededPairs, newestOf } from './calibrate.ts'

/**
 * What is done with a candidate. `learn`: it is asked live and judged. `audit`: the same, though it would be served.
 */
export type Decision = 'serve' | 'audit' | 'learn' | 'refuse'

/** Judged pairs that are kept at most, above what the newest of all levels come to. */
const MOST_PAIRS = 12_000
/** Calibrating anew costs some tenths of a millisecond: after a wrong pair at once, else after so many. */
const RECALIBRATE_AFTER = 25
/** Below this score most are wrong: judging them would cost and prove nothing. */
const LEAST_SCORE_JUDGED = 0

/** What a pool is told. */
export interface BoundOptions {
  readonly delta: number
  /** The share of what would be served that is asked live and judged. */
  readonly auditShare: number
  /** Between 0 and 1. */
  readonly random: () => number
}

/**
 * The evidence of one pool of requests, and what may be served by it. What a workload was long ago says nothing of it
 * now: when there is much evidence, the newest of each score is kept. Not the newest of all: what is served is judged
 * seldom, and would be forgotten first.
 */
export class BoundPool {
  static readonly mostPairs = MOST_PAIRS
  /** Clean pairs that it takes at least to serve anything. */
  readonly needed: number
  readonly #options: BoundOptions
  #pairs: JudgedPair[] = []
  #calibration: Calibration | undefined
  #fresh = 0

  constructor(options: BoundOptions, pairs: readonly JudgedPair[] = []) {
    this.#options = options
    this.needed = neededPairs(options.delta)
    this.#pairs = [...pairs]
    this.#forget()
    this.#calibrate()
  }

  get pairs(): readonly JudgedPair[] {
    return this.#pairs
  }

  get calibration(): Calibration | undefined {
    return this.#calibration
  }

  get standing(): 'learning' | 'open' | 'closed' {
    if (this.#calibration !== undefined) return 'open'
    return this.#pairs.length < this.needed ? 'learning' : 'closed'
  }

  /** What to do with a candidate of this score. */
  decide(score: number): Decision {
    const { auditShare, random } = this.#options
    if (score < LEAST_SCORE_JUDGED) return 'refuse'
    if (this.#calibration === undefined || score < this.#calibration.leastScore) return 'learn'
    return random() < auditShare ? 'audit' : 'serve'
  }

  /** Learns how a candidate was judged. */
  add(pair: JudgedPair): void {
    this.#pairs.push(pair)
    this.#forget()
    this.#fresh++
    if (pair.isWrong || this.#pairs.length === this.needed || this.#fresh >= RECALIBRATE_AFTER) this.#calibrate()
  }

  #forget(): void {
    if (this.#pairs.length > MOST_PAIRS) this.#pairs = newestOf(this.#pairs, this.#options.delta)
  }

  #calibrate(): void {
    this.#fresh = 0
    this.#calibration = calibrate(this.#pairs, this.#options.delta)
  }
}
