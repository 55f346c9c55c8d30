import type { Segment } from './segments.ts'

/**
 * DESIGN: what the conversation has shown already, and where.
 *
 *     source 0  a b c d          find(c d e …) ─► source 0, segments 2..3
 *     source 1  e f
 *
 * Segments are kept in one row, sources behind each other with a gap between them; an index leads from a segment to the
 * places where it stands. It only grows at its end, so that it can be taken back to what it was after any message.
 *
 * Limits: of a segment that stands in many places, the first few are known; short ones (`}`, blank lines) begin no run; of
 * a text that is like itself everywhere, only so much is compared.
 */

/** Where text was shown before. */
export interface Source {
  /** What shows it, in words: `Read lib/request.js`. */
  readonly label: string
  /** First segment in the row. */
  readonly start: number
}

/** Segments that stand in an earlier place, in the same order. */
export interface Run {
  /** First segment of the run in the text it was looked up for. */
  readonly from: number
  readonly length: number
  /** First segment of the place where it stands already. */
  readonly at: number
}

const MOST_PLACES = 8
const LEAST_KEY = 12
/** Comparisons for one source: some milliseconds. */
const MOST_COMPARISONS = 400_000
const GAP = '\u0000gap'

/** Everything shown so far in one conversation. */
export class Earlier {
  readonly #keys: string[] = []
  readonly #contents: string[] = []
  readonly #numbers: number[] = []
  readonly #places = new Map<string, number[]>()
  readonly #sources: Source[] = []
  #comparisons = 0

  /** How far it has grown: to be given to `cutBack`. */
  get length(): number {
    return this.#keys.length
  }

  /** Begins a source: what is added from now on stands there. */
  begin(label: string): Source {
    this.#push(GAP, GAP, 0)
    this.#comparisons = 0
    const source = { label, start: this.#keys.length }
    this.#sources.push(source)
    return source
  }

  add({ key, content, number }: Segment): void {
    if (key.length >= LEAST_KEY) {
      const places = this.#places.get(key)
      if (places === undefined) this.#places.set(key, [this.#keys.length])
      else if (places.length < MOST_PLACES) places.push(this.#keys.length)
    }
    this.#push(key, content, number)
  }

  /** Forgets what was added since it had this length. */
  cutBack(length: number): void {
    while (this.#keys.length > length) {
      const key = this.#keys.pop() ?? ''
      this.#contents.pop()
      this.#numbers.pop()
      const places = this.#places.get(key)
      if (places?.at(-1) !== this.#keys.length) continue
      places.pop()
      if (places.length === 0) this.#places.delete(key)
    }
    while ((this.#sources.at(-1)?.start ?? 0) > length) this.#sources.pop()
  }

  /** The source that a segment of the row stands in. */
  sourceAt(at: number): Source | undefined {
    let low = 0
    let high = this.#sources.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.#sources[middle]?.start ?? 0) <= at) low = middle
      else high = middle - 1
    }
    return this.#sources[low]
  }

  /** A line's number where it stood, or 0. */
  numberAt(at: number): number {
    return this.#numbers[at] ?? 0
  }

  /** Whether a run stood there to the character, and not only in what is compared. */
  isExact(segments: readonly Segment[], { from, length, at }: Run): boolean {
    for (let index = 0; index < length; index++) {
      if (segments[from + index]?.content !== this.#contents[at + index]) return false
    }
    return true
  }

  /** The longest run of `segments` around `from`, not before `least`, that stood somewhere; the earliest of equals. */
  find(segments: readonly Segment[], from: number, least: number): Run | undefined {
    const key = segments[from]?.key
    if (key === undefined || key.length < LEAST_KEY || this.#comparisons > MOST_COMPARISONS) return undefined
    let best: Run | undefined
    for (const place of this.#places.get(key) ?? []) {
      const forward = this.#matchForward(segments, from, place)
      const backward = this.#matchBackward(segments, { from, least }, place)
      const length = forward + backward
      this.#comparisons += length
      if (best === undefined || length > best.length) best = { from: from - backward, length, at: place - backward }
    }
    return best
  }

  #push(key: string, content: string, number: number): void {
    this.#keys.push(key)
    this.#contents.push(content)
    this.#numbers.push(number)
  }

  #matchForward(segments: readonly Segment[], from: number, place: number): number {
    let length = 1
    while (
      from + length < segments.length &&
      segments[from + length]?.key === this.#keys[place + length] &&
      isNext(segments, from + length)
    )
      length++
    return length
  }

  #matchBackward(
    segments: readonly Segment[],
    { from, least }: { from: number; least: number },
    place: number,
  ): number {
    let length = 0
    while (
      from - length > least &&
      segments[from - length - 1]?.key === this.#keys[place - length - 1] &&
      isNext(segments, from - length)
    )
      length++
    return length
  }
}

/** Whether a line has the number after that of the line before it: else a run would not tell it. */
function isNext(segments: readonly Segment[], at: number): boolean {
  const number = segments[at]?.number ?? 0
  const before = segments[at - 1]?.number ?? 0
  return number === 0 ? before === 0 : number === before + 1
}
