import { type Calibration, calibrate, type JudgedPair, neededPairs } from './calibrate.ts'

/** What is done with a candidate. `audit`: it would be served, and is asked live and judged instead. */
export type Decision =
  | { readonly action: 'serve' }
  | { readonly action: 'audit' | 'learn'; readonly weight: number }
  | { readonly action: 'refuse' }

/** Judged pairs that are kept, the newest: what a workload was long ago says nothing of it now. */
const WINDOW = 6000
/** Calibrating anew costs a few milliseconds: after a wrong pair at once, else after so many. */
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

/** The evidence of one pool of requests, and what may be served by it. */
export class BoundPool {
  static readonly window = WINDOW
  readonly #options: BoundOptions
  #pairs: JudgedPair[] = []
  #calibration: Calibration | undefined
  #fresh = 0

  constructor(options: BoundOptions, pairs: readonly JudgedPair[] = []) {
    this.#options = options
    this.#pairs = pairs.slice(-WINDOW)
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
    return this.#pairs.length < neededPairs(this.#options.delta) ? 'learning' : 'closed'
  }

  /** What to do with a candidate of this score. */
  decide(score: number): Decision {
    const { auditShare, random } = this.#options
    if (score < LEAST_SCORE_JUDGED) return { action: 'refuse' }
    if (this.#calibration === undefined || score < this.#calibration.leastScore) return { action: 'learn', weight: 1 }
    return random() < auditShare ? { action: 'audit', weight: 1 / auditShare } : { action: 'serve' }
  }

  /** Learns how a candidate was judged. */
  add(pair: JudgedPair): void {
    this.#pairs.push(pair)
    if (this.#pairs.length > WINDOW) this.#pairs.shift()
    this.#fresh++
    if (pair.isWrong || this.#fresh >= RECALIBRATE_AFTER) this.#calibrate()
  }

  #calibrate(): void {
    this.#fresh = 0
    this.#calibration = calibrate(this.#pairs, this.#options.delta)
  }
}
