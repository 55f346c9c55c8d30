import type { RE2JS } from 're2js'
import { Refusal } from './expression.ts'

/** First character of a match, and the one behind it. */
export type Match = readonly [start: number, end: number]

/** Most instructions times characters of one text: a quarter of a second at worst; most take a hundredth of it. */
const MOST_WORK = 4_000_000
/** Most matches in all texts of a request: each is an object, which later plugins read. */
const MOST_MATCHES = 10_000

/**
 * Finds the matches of a regular expression in each text. `afterEach` is called after each match and each text, and may
 * throw to end the search. Throws `Refusal` for a text that is too long and for too many matches.
 */
export function matchesIn(texts: readonly string[], expression: RE2JS, afterEach: () => void): Match[][] {
  const longest = Math.floor(MOST_WORK / expression.programSize())
  const counter = new MatchCounter()
  return texts.map((text) => {
    if (text.length > longest) throw tookTooMuch(expression.pattern(), `more than ${longest} characters of one text`)
    const found: Match[] = []
    for (const matcher = expression.matcher(text); matcher.find(); ) {
      counter.add(found, [matcher.start(), matcher.end()])
      afterEach()
    }
    afterEach()
    return found
  })
}

/** Returns the refusal of a search that exceeds a bound. */
export function tookTooMuch(source: string, bound: string): Refusal {
  return new Refusal(`the regular expression \`${source}\` took ${bound}. Expected a simpler one, or shorter texts.`)
}

/** Counts the matches of a request; adjacent ones are one, and empty ones are none. Throws `Refusal` for too many. */
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
    if (this.#count > MOST_MATCHES) throw new Refusal(`expected at most ${MOST_MATCHES} texts to keep, got more.`)
    found.push([start, end])
  }
}

/** Opening tag of a pin. */
export const PIN = '<keep>'
const PIN_END = '</keep>'

/** Finds pins, including their tags; an unclosed one extends to the end of its text. Throws `Refusal` for too many. */
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
