import { definitionOf, METRICS, type MetricName } from './definitions.ts'
import type { Snapshot } from './print.ts'
import { Distributions, Values } from './series.ts'

/** Instrument of each metric. */
export type Instruments = {
  readonly [Name in MetricName]: (typeof METRICS)[Name]['kind'] extends 'histogram' ? Distributions : Values
}

const NAMES = Object.keys(METRICS) as MetricName[]

/** Creates an instrument for each metric of the table. */
export function createInstruments(): Instruments {
  const made = NAMES.map((name) => {
    const definition = definitionOf(name)
    return [name, definition.kind === 'histogram' ? new Distributions(definition) : new Values(definition)]
  })
  return Object.fromEntries(made) as Instruments // safe: by each one’s kind
}

/** Returns the current values of all instruments. */
export function snapshotOf(instruments: Instruments): Snapshot {
  return Object.fromEntries(NAMES.map((name) => [name, instruments[name].samples()]))
}
