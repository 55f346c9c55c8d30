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
 * Finds literals of at least two characters in texts. One pass looks at each pair of characters; only where one begins a
 * literal, texts of the lengths in question are looked up, longest first: so thousands of literals with one beginning cost
 * no more than their different lengths. A literal that begins or ends with a letter or digit is found as a whole word.
 */
export class LiteralFinder {
  readonly #isStart = new Uint8Array(MOST_CODE)
  readonly #lengths = new Map<string, number[]>()
  readonly #kinds = new Map<string, Kind>()

  constructor(literals: Iterable<Literal>) {
    for (const { text, kind } of literals) {
      const start = text.slice(0, 2)
      this.#isStart[slotOf(start.charCodeAt(0), start.charCodeAt(1))] = 1
      this.#kinds.set(text, kind)
      const lengths = this.#lengths.get(start)
      if (lengths === undefined) this.#lengths.set(start, [text.length])
      else if (!lengths.includes(text.length)) lengths.push(text.length)
    }
    for (const lengths of this.#lengths.values()) lengths.sort((a, b) => b - a)
  }

  find(text: string): Finding[] {
    const found: Finding[] = []
    if (this.#kinds.size === 0) return found
    for (let at = 0; at < text.length - 1; at++) {
      if (this.#isStart[slotOf(text.charCodeAt(at), text.charCodeAt(at + 1))] === 0) continue
      const finding = this.#at(text, at)
      if (finding === undefined) continue
      found.push(finding)
      at = finding.end - 1
    }
    return found
  }

  #at(text: string, start: number): Finding | undefined {
    for (const length of this.#lengths.get(text.slice(start, start + 2)) ?? []) {
      const end = start + length
      const kind = this.#kinds.get(text.slice(start, end))
      if (kind !== undefined && isWhole(text, start, end)) return { start, end, kind }
    }
    return undefined
  }
}

function slotOf(first: number, second: number): number {
  return ((first << SECOND_SHIFT) ^ second) & (MOST_CODE - 1)
}

function isWhole(text: string, start: number, end: number): boolean {
  const joinsBefore = isAlphanumericAt(text, start) && isAlphanumericAt(text, start - 1) && text[start - 2] !== '\\'
  return !joinsBefore && !(isAlphanumericAt(text, end - 1) && isAlphanumericAt(text, end))
}
