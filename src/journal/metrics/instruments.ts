import { definitionOf, METRICS, type MetricName } from './definitions.ts'
import type { Snapshot } from './print.ts'
import { Distributions, Values } from './series.ts'

/** What each metric is counted with. */
export type Instruments = {
  readonly [Name in MetricName]: (typeof METRICS)[Name]['kind'] extends 'histogram' ? Distributions : Values
}

const NAMES = Object.keys(METRICS) as MetricName[]

/** Makes one for each metric of the table. */
export function createInstruments(): Instruments {
  const made = NAMES.map((name) => {
    const definition = definitionOf(name)
    return [name, definition.kind === 'histogram' ? new Distributions(definition) : new Values(definition)]
  })
  return Object.fromEntries(made) as Instruments // safe: by each one’s kind
}

/** What they have counted so far. */
export function snapshotOf(instruments: Instruments): Snapshot {
  return Object.fromEntries(NAMES.map((name) => [name, instruments[name].samples()]))
}
