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
const HEAD = 4

/**
 * Finds literals of at least two characters in texts. One pass looks at each pair of characters; only where one begins a
 * literal, texts of the lengths in question are looked up, longest first: so thousands of literals with one beginning cost
 * no more than their different lengths. A literal that begins or ends with a letter or digit is found as a whole word.
 */
export class LiteralFinder {
  readonly #isStart = new Uint8Array(MOST_CODE)
  /** Set for the first four characters of literals; `undefined` where some are shorter. */
  readonly #isHead: Uint8Array | undefined
  readonly #lengths = new Map<string, number[]>()
  readonly #kinds = new Map<string, Kind>()

  constructor(literals: Iterable<Literal>) {
    const all = [...literals]
    if (all.every(({ text }) => text.length >= HEAD)) this.#isHead = new Uint8Array(MOST_CODE)
    for (const { text, kind } of all) {
      if (this.#isHead !== undefined) this.#isHead[headOf(text, 0)] = 1
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
    const isStart = this.#isStart
    const isHead = this.#isHead
    const { length } = text
    let first = text.charCodeAt(0)
    for (let next = 1; next < length; next++) {
      const second = text.charCodeAt(next)
      const mayStart = isStart[slotOf(first, second)] !== 0
      first = second
      if (!mayStart || isHead?.[headOf(text, next - 1)] === 0) continue
      const finding = this.#at(text, next - 1)
      if (finding === undefined) continue
      found.push(finding)
      next = finding.end
      first = text.charCodeAt(next)
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

function headOf(text: string, at: number): number {
  const start = slotOf(text.charCodeAt(at), text.charCodeAt(at + 1))
  return slotOf(start, slotOf(text.charCodeAt(at + 2), text.charCodeAt(at + 3)))
}

function isWhole(text: string, start: number, end: number): boolean {
  const joinsBefore = isAlphanumericAt(text, start) && isAlphanumericAt(text, start - 1) && text[start - 2] !== '\\'
  return !joinsBefore && !(isAlphanumericAt(text, end - 1) && isAlphanumericAt(text, end))
}
