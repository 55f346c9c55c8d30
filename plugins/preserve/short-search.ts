import type { RE2JS } from 're2js'
import { compile, isQuicklyCompiled } from './expression.ts'
import { type Match, matchesIn } from './matches.ts'

/** Most instructions times characters of all texts: one match takes less than a millisecond. */
const MOST_WORK = 100_000
/** Time limit: some expressions read to the text's end for each match. */
const LONGEST_MS = 2

/** Signals that the thread must run the search. */
class TakesLonger extends Error {}

/** Options of a short search. */
export interface ShortSearchOptions {
  /** Compiled expression, where available. */
  readonly known?: RE2JS | undefined
  readonly nowMs?: () => number
}

/** Searches on this thread while that is short; returns `undefined` when it is not. Throws `Refusal`. */
export function searchShortly(
  texts: readonly string[],
  source: string,
  { known, nowMs = () => performance.now() }: ShortSearchOptions = {},
): Match[][] | undefined {
  if (known === undefined && !isQuicklyCompiled(source)) return undefined
  const characters = texts.reduce((sum, { length }) => sum + length, 0)
  if (characters > MOST_WORK) return undefined
  const endsAtMs = nowMs() + LONGEST_MS
  const expression = known ?? compile(source)
  if (characters * expression.programSize() > MOST_WORK) return undefined
  try {
    return matchesIn(texts, expression, () => {
      if (nowMs() > endsAtMs) throw new TakesLonger()
    })
  } catch (error) {
    if (error instanceof TakesLonger) return undefined
    throw error
  }
}
