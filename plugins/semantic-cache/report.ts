/** What modes tell of themselves: plain data, as they are kept in files and printed. */

/** How often what is given, or would have been, was right, as far as anybody could tell. */
export interface Verdicts {
  readonly right: number
  readonly wrong: number
  /** Another text than the fresh answer, and nobody to judge. */
  readonly undecided: number
}

/** What shadow mode would have given, of one pool. */
export interface ShadowReport extends Verdicts {
  readonly pool: string
  /** The mode that was tried, as pipelines write it: `strict`, `bound(0.02)`. */
  readonly mode: string
  /** Requests that were looked up. */
  readonly requests: number
  /** Of those, how many would have been answered from another text's reply. */
  readonly wouldServe: number
}

/** Where a calibrated bound stands, of one pool. */
export interface BoundState extends Verdicts {
  readonly pool: string
  /** The share of what is given that may be wrong. */
  readonly delta: number
  /** `learning`: too few judged pairs. `open`: serves what scores `leastScore`. `closed`: enough pairs, too many wrong. */
  readonly standing: 'learning' | 'open' | 'closed'
  readonly leastScore: number | undefined
  /** Judged pairs in the window, and how many clean ones it takes at least to open. */
  readonly judged: number
  readonly needed: number
  /** An upper bound, at 95 %, of the share of wrong answers among what scores `leastScore`. */
  readonly upperBound: number | undefined
  readonly served: number
}

/** What one process tells: `reports/<worker>.json` in the plugin's folder. */
export interface Report {
  readonly shadows: readonly ShadowReport[]
  readonly bounds: readonly BoundState[]
}
