import type fc from 'fast-check'

/** One case: what a stranger sent, and a number from which the rest of the case follows (cuts, edits, the time). */
export interface FuzzCase {
  /** Bytes, read as latin1. */
  readonly text: string
  readonly salt: number
}

/** A parser under attack. */
export interface Fuzzer {
  /** That of its corpus in `test/fuzz/corpus`. */
  readonly name: string
  /** Well-formed inputs, to be mutated; as latin1. */
  readonly seeds: fc.Arbitrary<string>
  /** Pieces of the format, which mutations put where they do not belong. */
  readonly words: readonly string[]
  /** How many changes a case has at most; fewer where a broken input is soon boring. Default: 6. */
  readonly mostMutations?: number
  /** Outcomes that a run must have: accepted and refused inputs. */
  readonly outcomes: readonly string[]
  /** Judges one case: one of `outcomes`, or another. Throws when the code under attack has broken a promise. */
  run(input: FuzzCase): string | Promise<string>
}

/** Throws an error that names the broken promise. */
export function promise(isKept: boolean, what: string): asserts isKept {
  if (!isKept) throw new Error(`a promise is broken: ${what}`)
}

/** Result of a function: its value, or the error that it threw. */
export type Tried<Value> = { readonly value: Value; readonly error?: undefined } | { readonly error: unknown }

/** Calls a function. */
export function attempt<Value>(call: () => Value): Tried<Value> {
  try {
    return { value: call() }
  } catch (error) {
    return { error }
  }
}

/** Numbers that follow from a salt: each call gives one from 0 up to but not including `below` (mulberry32). */
export function createPicker(salt: number): (below: number) => number {
  let state = salt >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % Math.max(1, below)
  }
}

/** Compares two values of JSON.parse; -0 and 0 differ, members are in any order. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return Object.is(a, b)
  if (Array.isArray(a) !== Array.isArray(b)) return false
  // Safe: both are objects or both are lists, and are read by their own names only.
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>]
  const names = Object.keys(left)
  if (names.length !== Object.keys(right).length) return false
  return names.every((name) => Object.hasOwn(right, name) && isSameJson(left[name], right[name]))
}
