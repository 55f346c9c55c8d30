import { type Condition, compileCondition, examplesOf, type Situation } from './condition.ts'
import { ExampleIndex } from './examples.ts'
import { MatchText, ownerOfExceptions } from './match-text.ts'
import type { PatternFault, PatternFile } from './pattern-file.ts'
import { assertRenders } from './render.ts'

/** Valid pattern. */
export interface Pattern extends PatternFile {
  /** Score at a position in a conversation, from 0 to 1; always 0 when it is used only on request. */
  readonly score: Condition
}

/** Immutable set of patterns: an edited file creates a new set. */
export interface PatternSet {
  readonly version: number
  readonly patterns: ReadonlyMap<string, Pattern>
  /** Patterns disabled by their own `enabled`. */
  readonly disabled: readonly PatternFile[]
  readonly faults: readonly PatternFault[]
  readonly index: ExampleIndex
}

const NEVER: Condition = () => 0

/** Creates a set of the patterns read. A pattern that fails its own tests is a fault, and not used. */
export function createPatternSet(read: readonly (PatternFile | PatternFault)[], version = 0): PatternSet {
  const faults: PatternFault[] = []
  const compiled: Pattern[] = []
  for (const one of read) {
    if ('reason' in one) faults.push(one)
    else if (one.enabled) keepFault(faults, one, () => compiled.push(compile(one)))
  }
  // The tests run against all patterns, since examples compete with each other.
  const whole = indexOf(compiled)
  const sound = compiled.filter((pattern) => keepFault(faults, pattern, () => runTests(pattern, whole)))
  return {
    version,
    patterns: new Map(sound.map((pattern) => [pattern.name, pattern])),
    disabled: read.filter((one) => 'enabled' in one && !one.enabled) as PatternFile[], // safe: faults have no `enabled`
    faults,
    index: sound.length === compiled.length ? whole : indexOf(sound),
  }
}

/** Calls `work` and returns its success. An error becomes a fault of the pattern. */
function keepFault(faults: PatternFault[], { name, file }: PatternFile, work: () => void): boolean {
  try {
    work()
    return true
  } catch (error) {
    faults.push({ name, file, reason: error instanceof Error ? error.message : String(error) })
    return false
  }
}

function compile(file: PatternFile): Pattern {
  assertRenders(file)
  const matches = file.match === undefined ? NEVER : compileCondition(file.match, { owner: file.name, unknown: 1 })
  const owner = ownerOfExceptions(file.name)
  const isExcepted = file.not === undefined ? NEVER : compileCondition(file.not, { owner, unknown: 0 })
  return { ...file, score: (situation) => (isExcepted(situation) > 0 ? 0 : matches(situation)) }
}

function indexOf(patterns: readonly Pattern[]): ExampleIndex {
  return new ExampleIndex(
    patterns.flatMap(({ name, match = {}, not = {} }) => [
      ...examplesOf(match).map((text) => ({ owner: name, text })),
      ...examplesOf(not).map((text) => ({ owner: ownerOfExceptions(name), text })),
    ]),
  )
}

/** Throws when a text that should match does not, or the other way round. */
function runTests({ tests, score }: Pattern, index: ExampleIndex): void {
  const matches = (text: string) => score(aloneWith(text, index)) > 0
  const failed = [
    ...tests.should.filter((text) => !matches(text)).map((text) => `\`${text}\` should match, and does not`),
    ...tests.should_not.filter(matches).map((text) => `\`${text}\` should not match, and does`),
  ]
  if (failed.length > 0) throw new Error(`its tests failed: ${failed.join('; ')}`)
}

/** Returns the situation of a text alone, with unknown circumstances. */
export function aloneWith(text: string, index: ExampleIndex): Situation {
  const searched = new MatchText(text, index)
  return { text: () => searched, turn: 0, isFirst: true, circumstances: undefined }
}
