import { isAlphanumericAt } from './detect/characters.ts'
import type { Finding, Kind } from './detect/finding.ts'

/** A text to find wherever it is, and the kind of its findings. */
export interface Literal {
  readonly text: string
  readonly kind: Kind
}

const HASH_BITS = 16
const MOST_CODE = 1 << HASH_BITS
/** Fits two characters into a slot: a prefilter that one comparison follows. */
const SECOND_SHIFT = 5

/**
 * Finds literals of at least two characters in texts. One pass looks at each pair of characters; only where one begins
 * a literal are texts compared, longest first. A literal that begins or ends with a letter or digit is found as a whole word.
 */
export class LiteralFinder {
  readonly #isStart = new Uint8Array(MOST_CODE)
  readonly #byStart = new Map<string, Literal[]>()
  readonly #isEmpty: boolean

  constructor(literals: Iterable<Literal>) {
    for (const literal of literals) {
      const start = literal.text.slice(0, 2)
      this.#isStart[slotOf(start.charCodeAt(0), start.charCodeAt(1))] = 1
      const same = this.#byStart.get(start)
      if (same === undefined) this.#byStart.set(start, [literal])
      else same.push(literal)
    }
    for (const same of this.#byStart.values()) same.sort((a, b) => b.text.length - a.text.length)
    this.#isEmpty = this.#byStart.size === 0
  }

  find(text: string): Finding[] {
    const found: Finding[] = []
    if (this.#isEmpty) return found
    for (let at = 0; at < text.length - 1; at++) {
      if (this.#isStart[slotOf(text.charCodeAt(at), text.charCodeAt(at + 1))] === 0) continue
      const literal = this.#byStart.get(text.slice(at, at + 2))?.find((each) => isAt(text, at, each.text))
      if (literal === undefined) continue
      found.push({ start: at, end: at + literal.text.length, kind: literal.kind })
      at += literal.text.length - 1
    }
    return found
  }
}

function slotOf(first: number, second: number): number {
  return ((first << SECOND_SHIFT) ^ second) & (MOST_CODE - 1)
}

function isAt(text: string, at: number, literal: string): boolean {
  if (!text.startsWith(literal, at)) return false
  const end = at + literal.length
  const joinsBefore = isAlphanumericAt(literal, 0) && isAlphanumericAt(text, at - 1) && text[at - 2] !== '\\'
  return !joinsBefore && !(isAlphanumericAt(literal, literal.length - 1) && isAlphanumericAt(text, end))
}
