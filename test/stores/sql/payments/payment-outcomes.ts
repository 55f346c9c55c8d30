/** Counts of each outcome: a property that never sees one proves nothing about it. */
export type Outcomes = Record<string, number>

const EXPECTED = [
  'claimed',
  'resumed claimed',
  'resumed authorized',
  'resumed captured',
  'busy',
  'refused unknown',
  'refused expired',
  'refused consumed',
  'refused failed',
  'refused other-token',
  'to authorized',
  'to captured',
  'to consumed',
  'to failed',
  'to expired',
  'move of a former owner refused',
  'move of a wrong state refused',
  'one of several claims held',
  'one of several moves took',
  'renewed',
  'not renewed',
  'left, given back',
  'left, delivered',
  'left by a former owner',
  'refused after it was left',
  'reaped',
]

/** Outcomes of which none has occurred. */
export function noOutcomes(): Outcomes {
  return Object.fromEntries(EXPECTED.map((name) => [name, 0]))
}
