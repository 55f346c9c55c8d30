import { RE2JS } from 're2js'
import type { Finding } from './detect/finding.ts'

/** Most instructions of a program: a long key with counted parts has about a hundred. */
const MOST_INSTRUCTIONS = 500
/** Most instructions times characters of one request: about a quarter of a second at worst. */
const MOST_WORK = 4_000_000

/** Error of a request that is too long for the operator's expressions. */
export class TooMuchToSearch extends Error {}

/** An expression of the operator, compiled. */
interface Compiled {
  readonly expression: RE2JS
  readonly size: number
  /** Letters that each match contains, in small letters; empty where none are known. */
  readonly literal: string
}

/** Returns the fault of an expression in RE2's syntax, or `undefined`. */
export function faultOf(source: string): string | undefined {
  try {
    compiled(source)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function compiled(source: string): Compiled {
  const expression = RE2JS.compile(source)
  const size = expression.programSize()
  if (size > MOST_INSTRUCTIONS)
    throw new Error(`expected at most ${MOST_INSTRUCTIONS} instructions, got ${size}: shorten its counts`)
  if (expression.matcher('').find()) throw new Error('expected an expression that does not match an empty text')
  return { expression, size, literal: beginningOf(source) }
}

/** Returns the letters, digits, `_` and `-` with which every match begins; empty for alternatives and optional ones. */
function beginningOf(source: string): string {
  if (/[|]|\(\?/.test(source)) return ''
  const letters = /^(?:\\b)?([A-Za-z0-9_-]*)/.exec(source)?.[1] ?? ''
  const next = source[source.indexOf(letters) + letters.length] ?? ''
  return /[?*{]/.test(next) ? letters.slice(0, -1) : letters
}

/** Finds the matches of the operator's expressions; linear in the text (RE2), and bounded for each request. */
export class PatternFinder {
  readonly #patterns: readonly Compiled[]
  #work = 0

  constructor(patterns: readonly string[] | PatternFinder) {
    this.#patterns = patterns instanceof PatternFinder ? patterns.#patterns : patterns.map(compiled)
  }

  /** Returns a finder of the same expressions with the budget of one request. */
  forRequest(): PatternFinder {
    return new PatternFinder(this)
  }

  /** Throws `TooMuchToSearch` beyond the budget. */
  find(text: string): Finding[] {
    const found: Finding[] = []
    for (const { expression, size, literal } of this.#patterns) {
      const first = text.indexOf(literal)
      if (first === -1) continue
      this.#work += size * (text.length - first)
      if (this.#work > MOST_WORK) throw new TooMuchToSearch()
      for (const matcher = expression.matcher(text); matcher.find(); )
        if (matcher.end() > matcher.start()) found.push({ start: matcher.start(), end: matcher.end(), kind: 'custom' })
    }
    return found
  }
}
