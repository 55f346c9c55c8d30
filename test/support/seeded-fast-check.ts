/** fast-check whose properties all have one seed, and a bound on their runs. */
import fc, { type JsonSharedConstraints, type Parameters, type StringConstraints } from 'fast-check'

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

const LAST_CODE_POINT = 0x10_ff_ff
/** Any code point, lone surrogates too. */
const codePoint = fc.integer({ min: 0, max: LAST_CODE_POINT }).map(String.fromCodePoint, codeOf)

function codeOf(text: unknown): number {
  const code = typeof text === 'string' ? text.codePointAt(0) : undefined
  if (code === undefined || String.fromCodePoint(code) !== text) throw new Error('Expected one code point')
  return code
}

/** Units of strings; for `binary` fast-check makes a table of all code points, with up to 4 s of CPU for each arbitrary. */
const unitOf = (unit: StringConstraints['unit'] = 'grapheme-ascii') => (unit === 'binary' ? codePoint : unit)
const string = (constraints: StringConstraints = {}) => fc.string({ ...constraints, unit: unitOf(constraints.unit) })
const jsonValue = (constraints: JsonSharedConstraints = {}) =>
  fc.jsonValue({ ...constraints, stringUnit: unitOf(constraints.stringUnit) })

export * from 'fast-check'
// biome-ignore lint/style/noDefaultExport: fast-check has one
export default { ...fc, assert, check, string, jsonValue }
