/**
 * DESIGN: regular expressions of operators, on untrusted texts.
 *
 * JavaScript's own engine backtracks: one careless expression and a crafted text block the whole gateway. RE2's syntax
 * excludes constructs that need backtracking, and its engine takes time proportional to text times program. Both
 * factors are bounded: the program outright, and the text by the program, so that the worst text for the worst
 * expression costs about a quarter of a second, and a usual one less than a tenth of a millisecond.
 */
import { RE2JS } from 're2js'
import type { MatchText } from './match-text.ts'
import { requiredLiterals } from './required-literals.ts'

/** Most instructions of a program: about those of `x[\s\S]{0,200}y`, twice. */
const MOST_INSTRUCTIONS = 1000
/** Most instructions times characters: a program of 100 reads 40,000 characters, the largest 4,000. */
const MOST_WORK = 4_000_000

/** Test of a text for a match, ignoring case. */
export type TextTest = (text: MatchText) => boolean

/**
 * Compiles an expression in RE2's syntax; `(?-i)` at its start makes it case-sensitive. Throws an `Error` that quotes
 * an unsupported part: lookaround, back references, possessive or atomic groups, counts over 1000.
 */
export function compileRegex(source: string, { isPrefiltered = true } = {}): TextTest {
  const expression = parse(source)
  const size = expression.programSize()
  if (size > MOST_INSTRUCTIONS) {
    throw new Error(
      `the expression \`${source}\` makes a program of ${size} instructions, expected at most ${MOST_INSTRUCTIONS}: shorten its counted repetitions`,
    )
  }
  const searchedCharacters = Math.floor(MOST_WORK / size)
  const test: TextTest = (text) => expression.test(text.upTo(searchedCharacters))
  const literals = isPrefiltered ? requiredLiterals(source) : undefined
  if (literals === undefined) return test
  return (text) => literals.some((literal) => text.lower.includes(literal)) && test(text)
}

function parse(source: string): RE2JS {
  try {
    return RE2JS.compile(source, RE2JS.CASE_INSENSITIVE | RE2JS.MULTILINE)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.replace('error parsing regexp: ', '') : String(cause)
    throw new Error(
      `the expression \`${source}\` is not in RE2's syntax: ${reason}. Lookaround, back references and possessive or atomic groups are not allowed: they cannot be matched in linear time`,
      { cause },
    )
  }
}
