/** fast-check whose properties all have one seed, and a bound on their runs. */
import fc, { type Parameters } from 'fast-check'

/** Any number. What a drill finds with another seed becomes a plain test. */
const SEED = 20_260_101
/** With one seed, runs are the same each time: more of them would find little. Drills have more, with new seeds. */
const MOST_RUNS = 200

fc.configureGlobal({ seed: SEED })

/** Bounds the runs, unless the property chooses its seed, and so its runs. */
function bounded<Values>(parameters: Parameters<Values> = {}): Parameters<Values> {
  const { seed, numRuns } = parameters
  const isBounded = seed === undefined && numRuns !== undefined && numRuns > MOST_RUNS
  return isBounded ? { ...parameters, numRuns: MOST_RUNS } : parameters
}

// The casts are safe: types of results follow from the property, which is passed on.
const assert = ((property: never, parameters) => fc.assert(property, bounded(parameters))) as typeof fc.assert
const check = ((property: never, parameters) => fc.check(property, bounded(parameters))) as typeof fc.check

export * from 'fast-check'
// biome-ignore lint/style/noDefaultExport: fast-check has one
export default { ...fc, assert, check }
