/**
 * DESIGN: regular expressions of callers and operators, on untrusted texts.
 *
 * JavaScript's own engine backtracks: one careless expression and a crafted text block the event loop. RE2's syntax
 * excludes constructs that need backtracking, and one search takes time proportional to text times program. A search
 * continues behind each match, and some expressions read to the text's end each time: so searches are bounded together.
 *
 *   few instructions × short texts ──▶ on the loop, for two milliseconds ──▶ found
 *                 all others ─────────────────────┴──▶ a queue by caller ──▶ one thread ──▶ found
 *
 * Compiling is bounded in the same way: classes of Unicode and folding of case cost up to 60 ms for 500 characters, so
 * callers' expressions with them are compiled in the thread only.
 */
import { RE2JS } from 're2js'

/** Most instructions of a program. */
const MOST_INSTRUCTIONS = 1000
/** Matches expressions without classes of Unicode and flags, whose branches begin with different characters. */
const QUICK = /^(?:[^\\(]|\\[^pP]|\((?!\?)|\(\?:)*$/s
const COUNT = /\{(\d+)(?:,(\d*))?\}/g

/** Refusal of a search; the message is for the caller. */
export class Refusal extends Error {}

/** Compiles an expression in RE2's syntax. Throws `Refusal` for other syntax, and for a program that is too large. */
export function compile(source: string): RE2JS {
  const expression = parse(source)
  const size = expression.programSize()
  if (size <= MOST_INSTRUCTIONS) return expression
  throw new Refusal(
    `expected a regular expression of at most ${MOST_INSTRUCTIONS} instructions, got ${size}: shorten its counts`,
  )
}

/** Returns the fault of an expression, or `undefined`. */
export function faultOf(source: string): string | undefined {
  try {
    compile(source)
    return undefined
  } catch (error) {
    if (error instanceof Refusal) return error.message
    throw error
  }
}

/** Tests, by its text, that an expression compiles within about a millisecond. */
export function isQuicklyCompiled(source: string): boolean {
  if (!QUICK.test(source)) return false
  let mostInstructions = source.length
  for (const [, least, most] of source.matchAll(COUNT))
    mostInstructions *= Math.max(1, Number(least), Number(most ?? 0))
  return mostInstructions <= MOST_INSTRUCTIONS
}

function parse(source: string): RE2JS {
  try {
    return RE2JS.compile(source)
  } catch (cause) {
    throw new Refusal(
      `expected a regular expression in RE2’s syntax: ${cause instanceof Error ? cause.message : cause}`,
      { cause },
    )
  }
}
