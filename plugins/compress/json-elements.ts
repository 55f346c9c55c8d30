/**
 * DESIGN: boundaries of whole JSON elements.
 *
 * A pointer inside a value leaves invalid JSON, so that in JSON only whole elements of a list are replaced by one, or a
 * whole text. Tools print JSON in strings of JSON or of Python, too, where quotes have backslashes before them; a
 * string that holds JSON is looked into, at any depth.
 *
 *     [{"a":1},{"b":"x, y"},{"c":3}]
 *      ^       ^            ^           boundaries of the same list: between two of them are whole elements
 *                    ^                  within an object or a string: no boundary
 */

/** Matches JSON in a text: at its beginning, or behind a quote. */
const JSON_LIKE = /^\s*[{[]|['"][{[]\\*["n[{]/

/** Marks a position at which no element begins or ends. */
const NO_BOUNDARY = -1

/** Tests for text that is JSON or contains some. */
export function isJsonLike(text: string): boolean {
  return JSON_LIKE.test(text)
}

const QUOTE = 34
const COMMA = 44
const BACKSLASH = 92
const SPACE = 32
const OPEN_LIST = 91
const CLOSE_LIST = 93
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125
/** Distance from the opening bracket to the closing one, in character codes. */
const TO_CLOSING = 2
/** Most backslashes before a quote; an open string is encoded as their number, below every bracket's code. */
const MOST_BACKSLASHES = 64
/** Deepest nesting that is tracked. */
const MOST_OPEN = 200

/** Lists, objects and strings that are open at a position in a text. */
class Nesting {
  /** Bracket codes, or the backslashes before a string's quote. */
  readonly #kinds: number[] = []
  readonly #ids: number[] = []
  #count = 0
  /** Set once the nesting exceeds the bound: from there on it is unknown. */
  #isLost = false
  /** Last non-blank character, escaped or not. */
  #last = COMMA

  /** Advances over a text. */
  walk(text: string): void {
    for (let at = 0; at < text.length && !this.#isLost; at++) {
      const code = text.charCodeAt(at)
      if (code <= SPACE) continue
      if (code === BACKSLASH) at = this.#walkEscape(text, at)
      else {
        if (code === QUOTE) this.#quote(0)
        else if (code === OPEN_LIST || code === OPEN_OBJECT) this.#open(code)
        else if ((code === CLOSE_LIST || code === CLOSE_OBJECT) && this.#kinds.at(-1) === code - TO_CLOSING)
          this.#close()
        this.#last = code
      }
    }
  }

  /** Tests that nothing is open. */
  get isWhole(): boolean {
    return this.#kinds.length === 0 && !this.#isLost
  }

  /** List that is open where an element can begin or end, 0 at top level; else `NO_BOUNDARY`. */
  get boundary(): number {
    if (this.#isLost) return NO_BOUNDARY
    const isBetween = this.#last === COMMA || this.#last === OPEN_LIST
    return isBetween && (this.#kinds.at(-1) ?? OPEN_LIST) === OPEN_LIST ? (this.#ids.at(-1) ?? 0) : NO_BOUNDARY
  }

  /** Skips backslashes and the escaped character; returns its position. */
  #walkEscape(text: string, from: number): number {
    let at = from
    while (text.charCodeAt(at) === BACKSLASH) at++
    const code = text.charCodeAt(at)
    if (code === QUOTE) this.#quote(Math.min(at - from, MOST_BACKSLASHES))
    // An escaped line end or tab is a blank.
    if (!'nrt'.includes(text.charAt(at))) this.#last = code
    return at
  }

  /** Closes the string with such quotes and everything open in it, or opens one. */
  #quote(backslashes: number): void {
    const index = this.#kinds.lastIndexOf(backslashes)
    if (index === -1) this.#open(backslashes)
    else {
      this.#kinds.length = index
      this.#ids.length = index
    }
  }

  #open(kind: number): void {
    if (this.#kinds.length >= MOST_OPEN) this.#isLost = true
    this.#kinds.push(kind)
    this.#ids.push(++this.#count)
  }

  #close(): void {
    this.#kinds.pop()
    this.#ids.pop()
  }
}

/**
 * Returns, for each border between segments, the beginning and the end included: the list that is open there, as a
 * number of its own, where an element can begin or end; else `NO_BOUNDARY`.
 */
export function elementBoundaries(segments: readonly { readonly text: string }[]): number[] {
  const nesting = new Nesting()
  const boundaries = segments.map(({ text }) => {
    nesting.walk(text)
    return nesting.boundary
  })
  // A text that ends with nothing open is whole.
  if (nesting.isWhole) boundaries[boundaries.length - 1] = 0
  return [0, ...boundaries]
}

/** Returns the longest part of `from..to` that consists of whole elements; empty when there is none. */
export function wholeElements(boundaries: readonly number[], from: number, to: number): { from: number; to: number } {
  const firsts = new Map<number, number>()
  let best = { from, to: from }
  for (let at = from; at <= to; at++) {
    const list = boundaries[at] ?? NO_BOUNDARY
    if (list === NO_BOUNDARY) continue
    const first = firsts.get(list)
    if (first === undefined) firsts.set(list, at)
    else if (at - first > best.to - best.from) best = { from: first, to: at }
  }
  return best
}
