/** Counts of each outcome: a property that never sees one proves nothing about it. */
export type Outcomes = Record<
  | 'admitted'
  | 'repeated'
  | 'refusedByFirst'
  | 'refusedByLater'
  | 'grown'
  | 'growthRefused'
  | 'revived'
  | 'settled'
  | 'settledTwice'
  | 'corrected'
  | 'leaseEnded'
  | 'expired'
  | 'raised'
  | 'raisedInVain',
  number
>

/** Outcomes of which none has occurred. */
export function noOutcomes(): Outcomes {
  return {
    admitted: 0,
    repeated: 0,
    refusedByFirst: 0,
    refusedByLater: 0,
    grown: 0,
    growthRefused: 0,
    revived: 0,
    settled: 0,
    settledTwice: 0,
    corrected: 0,
    leaseEnded: 0,
    expired: 0,
    raised: 0,
    raisedInVain: 0,
  }
}
