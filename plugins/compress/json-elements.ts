/**
 * DESIGN: where whole elements of JSON begin and end.
 *
 * A pointer inside a value leaves neither the value nor something else, so that in JSON only whole elements of a list give
 * way to one, or a whole text. Tools print JSON in strings of JSON or of Python, too, where quotes have backslashes before
 * them; a string that holds JSON is looked into, at any depth.
 *
 *     [{"a":1},{"b":"x, y"},{"c":3}]
 *      ^       ^            ^           boundaries of the same list: between two of them are whole elements
 *                    ^                  within an object or a string: no boundary
 */

/** Marks JSON in a text: at its beginning, or behind a quote. */
const JSON_LIKE = /^\s*[{[]|['"][{[]\\*["n[{]/

/** No element begins or ends there. */
const NO_BOUNDARY = -1

/** Checks whether a text is JSON or has some in it. */
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
/** From its opening bracket to its closing one, in character codes. */
const TO_CLOSING = 2
/** A string is open as the number of backslashes before its quotes, below every bracket's code. */
const MOST_BACKSLASHES = 64
/** Values within each other that are followed. */
const MOST_OPEN = 200

/** The lists, objects and strings that are open at a place in a text. */
class Nesting {
  /** A bracket's code, or the backslashes before a string's quote. */
  readonly #kinds: number[] = []
  readonly #ids: number[] = []
  #count = 0
  /** Whether more is open than is followed: from there on nothing is known. */
  #isLost = false
  /** The last character that is no blank, written or not. */
  #last = COMMA

  /** Walks over a text. */
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

  /** Checks whether nothing is open. */
  get isWhole(): boolean {
    return this.#kinds.length === 0 && !this.#isLost
  }

  /** The list that is open where an element can begin or end, 0 outside of everything; else `NO_BOUNDARY`. */
  get boundary(): number {
    if (this.#isLost) return NO_BOUNDARY
    const isBetween = this.#last === COMMA || this.#last === OPEN_LIST
    return isBetween && (this.#kinds.at(-1) ?? OPEN_LIST) === OPEN_LIST ? (this.#ids.at(-1) ?? 0) : NO_BOUNDARY
  }

  /** Backslashes, and the character behind them, of which the place is returned. */
  #walkEscape(text: string, from: number): number {
    let at = from
    while (text.charCodeAt(at) === BACKSLASH) at++
    const code = text.charCodeAt(at)
    if (code === QUOTE) this.#quote(Math.min(at - from, MOST_BACKSLASHES))
    // A line end or a tab that is written out is a blank.
    if (!'nrt'.includes(text.charAt(at))) this.#last = code
    return at
  }

  /** Closes the string that has such quotes, with all that is open in it, or opens one. */
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
 * For each place where the segments of a text meet, its beginning and its end included: the list that is open
 * there, by a number of its own, where an element can begin or end; else `NO_BOUNDARY`.
 */
export function elementBoundaries(segments: readonly { readonly text: string }[]): number[] {
  const nesting = new Nesting()
  const boundaries = segments.map(({ text }) => {
    nesting.walk(text)
    return nesting.boundary
  })
  // At its end a text is whole, when nothing is open.
  if (nesting.isWhole) boundaries[boundaries.length - 1] = 0
  return [0, ...boundaries]
}

/** The longest part of `from..to` that consists of whole elements; empty when there is none. */
export function wholeElements(boundaries: readonly number[], from: number, to: number): { from: number; to: number } {
  const firsts = new Map<number, number>()
  let best = { from, to: from }
  for (let at = from; at <= to; at++) {
    const frame = boundaries[at] ?? NO_BOUNDARY
    if (frame === NO_BOUNDARY) continue
    const first = firsts.get(frame)
    if (first === undefined) firsts.set(frame, at)
    else if (at - first > best.to - best.from) best = { from: first, to: at }
  }
  return best
}
