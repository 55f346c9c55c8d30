/**
 * DESIGN: regular expressions of callers and operators, on texts of strangers.
 *
 * JavaScript's own engine backtracks: one careless expression and one text made for it hang the gateway, for everybody.
 * RE2's syntax leaves out what needs backtracking, and one search takes time in proportion to text times program. A search
 * goes on behind each match, and some expressions look to the text's end each time: so searches are bounded together.
 */
import { RE2JS } from 're2js'
import { GatewayError } from 'turnpike/plugin'
import { threadCpuMs } from './cpu-budget.ts'

/** First character of a match, and the one behind it. */
export type Match = readonly [start: number, end: number]

/** Most instructions of a program. */
const MOST_INSTRUCTIONS = 1000
/** Most instructions times characters of one text: a quarter of a second at worst; most take a hundredth of it. */
const MOST_WORK = 4_000_000
/** Most CPU for all texts of a request. */
const LONGEST_MS = 250
/** Most places of all texts of a request: each is an object, and later modules look at all of them. */
const MOST_MATCHES = 10_000

/** Says of an expression that it cannot be used, or why; its syntax is RE2's. */
export function faultOf(source: string): string | undefined {
  try {
    const size = RE2JS.compile(source).programSize()
    if (size <= MOST_INSTRUCTIONS) return undefined
    return `expected a regular expression of at most ${MOST_INSTRUCTIONS} instructions, got ${size}: shorten its counts`
  } catch (cause) {
    return `expected a regular expression in RE2’s syntax: ${cause instanceof Error ? cause.message : cause}`
  }
}

/** Where a regular expression matches in each text. Throws `invalid_request` when that takes too long. */
export function matchesIn(texts: readonly string[], source: string): Match[][] {
  const expression = RE2JS.compile(source)
  const longest = Math.floor(MOST_WORK / expression.programSize())
  const begunMs = threadCpuMs()
  const counter = new MatchCounter()
  return texts.map((text) => {
    if (text.length > longest) throw tooLong(source, `more than ${longest} characters of one text`)
    const found: Match[] = []
    for (const matcher = expression.matcher(text); matcher.find(); ) {
      counter.add(found, [matcher.start(), matcher.end()])
      assertInTime(source, begunMs)
    }
    assertInTime(source, begunMs)
    return found
  })
}

function assertInTime(source: string, begunMs: number): void {
  if (threadCpuMs() - begunMs > LONGEST_MS) throw tooLong(source, `longer than ${LONGEST_MS} ms`)
}

/** Counts the places of a request; those that touch are one, and empty ones are none. Throws `invalid_request` for too many. */
class MatchCounter {
  #count = 0

  add(found: Match[], [start, end]: Match): void {
    if (start === end) return
    const last = found.at(-1)
    if (last?.[1] === start) {
      found[found.length - 1] = [last[0], end]
      return
    }
    this.#count++
    if (this.#count > MOST_MATCHES) throw tooMany()
    found.push([start, end])
  }
}

/** Where a pin begins. */
export const PIN = '<keep>'
const PIN_END = '</keep>'

/** Where pins stand, their marks included; one that is not closed lasts to the end of its text. */
export function pinsIn(texts: readonly string[]): Match[][] {
  const counter = new MatchCounter()
  return texts.map((text) => {
    const found: Match[] = []
    for (let start = text.indexOf(PIN); start >= 0; start = text.indexOf(PIN, found.at(-1)?.[1])) {
      const close = text.indexOf(PIN_END, start)
      counter.add(found, [start, close < 0 ? text.length : close + PIN_END.length])
    }
    return found
  })
}

function tooLong(source: string, bound: string): GatewayError {
  return new GatewayError(
    'invalid_request',
    `Module \`preserve\`: the regular expression \`${source}\` took ${bound}. Expected a simpler one, or shorter texts.`,
  )
}

function tooMany(): GatewayError {
  return new GatewayError(
    'invalid_request',
    `Module \`preserve\`: expected at most ${MOST_MATCHES} texts to keep, got more.`,
  )
}
