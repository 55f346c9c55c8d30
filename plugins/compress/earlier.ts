import { isAlike, lineOf, type Segment } from './segments.ts'

/**
 * DESIGN: the conversation so far as the provider receives it, with positions.
 *
 *     source 0  a b c d          find(c d e …) ─► source 0, segments 2..3
 *     source 1  [pointer] e f
 *
 * Segments are in one row, sources one after another with a gap between them; an index maps a segment to its positions.
 * The row has only readable text: a pointer is a gap, so that no pointer leads to a pointer. It is append-only, so that
 * it can be cut back to its state after any message.
 *
 * Limits: only the first few positions of a segment are indexed; short ones (`}`, blank lines) begin no run;
 * comparisons are bounded, for self-similar texts.
 */

/** Text in the conversation: a tool's result or input. */
export interface Source<Origin> {
  readonly origin: Origin
  /** First segment in the row. */
  readonly start: number
}

/** Run of segments that also occurs earlier, in the same order. */
export interface Run {
  /** First segment of the run in the text that was looked up. */
  readonly from: number
  readonly length: number
  /** First segment of the earlier occurrence. */
  readonly at: number
}

const MOST_PLACES = 8
const LEAST_KEY = 12
/** Most comparisons for one source: some milliseconds. */
const MOST_COMPARISONS = 400_000
const GAP: Segment = { text: '\u0000', content: '\u0000', key: '\u0000', kind: 'gap', number: 0 }

/** Readable text of one conversation so far. */
export class Earlier<Origin> {
  readonly #row: Segment[] = []
  readonly #places = new Map<string, number[]>()
  readonly #sources: Source<Origin>[] = []
  #comparisons = 0

  /** Current length, for `cutBack`. */
  get length(): number {
    return this.#row.length
  }

  /** Begins a source: segments added from now on belong to it. */
  begin(origin: Origin): Source<Origin> {
    this.gap()
    this.#comparisons = 0
    const source = { origin, start: this.#row.length }
    this.#sources.push(source)
    return source
  }

  /** Adds a gap, which no run spans. */
  gap(): void {
    this.#row.push(GAP)
  }

  add(segment: Segment): void {
    const { key } = segment
    if (key.length >= LEAST_KEY) {
      const places = this.#places.get(key)
      if (places === undefined) this.#places.set(key, [this.#row.length])
      else if (places.length < MOST_PLACES) places.push(this.#row.length)
    }
    this.#row.push(segment)
  }

  /** Removes all segments beyond this length. */
  cutBack(length: number): void {
    while (this.#row.length > length) {
      const { key } = this.#row.pop() ?? GAP
      const places = this.#places.get(key)
      if (places?.at(-1) !== this.#row.length) continue
      places.pop()
      if (places.length === 0) this.#places.delete(key)
    }
    while ((this.#sources.at(-1)?.start ?? 0) > length) this.#sources.pop()
  }

  /** Returns the source of a segment of the row. */
  sourceAt(at: number): Source<Origin> | undefined {
    return this.#sources[this.#sourceIndex(at)]
  }

  /** Returns the readable segments of a segment's source; `undefined` beyond the bound on comparisons. */
  sourceAround(at: number): readonly Segment[] | undefined {
    const index = this.#sourceIndex(at)
    const segments = this.#row.slice(this.#sources[index]?.start, this.#sources[index + 1]?.start)
    this.#comparisons += segments.length
    return this.#comparisons > MOST_COMPARISONS ? undefined : segments
  }

  /** Returns segments of the row. */
  slice(at: number, length: number): readonly Segment[] {
    return this.#row.slice(at, at + length)
  }

  /** Tests for equality of a run to the character, not only of the compared keys. */
  isExact(segments: readonly Segment[], { from, length, at }: Run): boolean {
    for (let index = 0; index < length; index++) {
      if (segments[from + index]?.content !== this.#row[at + index]?.content) return false
    }
    return true
  }

  /** Tests for a source that `isWanted`. */
  has(isWanted: (origin: Origin) => boolean): boolean {
    return this.#sources.some(({ origin }) => isWanted(origin))
  }

  /** Tests for a readable line in a source that `isWanted`. */
  hasLine(line: string, isWanted: (origin: Origin) => boolean): boolean {
    const places = this.#places.get(line) ?? []
    return places.some((place) => {
      const source = this.sourceAt(place)
      return source !== undefined && isWanted(source.origin)
    })
  }

  /**
   * Returns the longest run of `segments` around `from`, not before `least`, that occurs earlier; the earliest of
   * equals. `hasNumbers`: some of the segments have line numbers.
   */
  find(
    segments: readonly Segment[],
    { from, least = 0, hasNumbers = true }: { from: number; least?: number; hasNumbers?: boolean },
  ): Run | undefined {
    const first = segments[from]
    if (first === undefined || first.key.length < LEAST_KEY || this.#comparisons > MOST_COMPARISONS) return undefined
    let best: Run | undefined
    for (const place of this.#places.get(first.key) ?? []) {
      if (!isAlike(first, this.#row[place])) continue
      for (const isWithNumbers of hasNumbers ? [false, true] : [false]) {
        const run = this.#runAround(segments, from, { least, place, isWithNumbers })
        this.#comparisons += run.length
        if (best === undefined || run.length > best.length) best = run
      }
    }
    return best
  }

  #sourceIndex(at: number): number {
    let low = 0
    let high = this.#sources.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.#sources[middle]?.start ?? 0) <= at) low = middle
      else high = middle - 1
    }
    return low
  }

  /**
   * Returns the run around one match. Lines continue with the next number or without one on either side; with
   * `isWithNumbers`, lines are equal with their numbers, and lines without numbers may be between them.
   */
  #runAround(
    segments: readonly Segment[],
    from: number,
    { least, place, isWithNumbers }: { least: number; place: number; isWithNumbers: boolean },
  ): Run {
    const row = this.#row
    let back = 0
    let ahead = 1
    while (from + ahead < segments.length && isAlike(segments[from + ahead], row[place + ahead])) {
      const at = from + ahead
      const there = place + ahead
      if (isWithNumbers ? !isSameLine(segments, at, row, there) : !isNext(segments, at) || !isNext(row, there)) break
      ahead++
    }
    while (from - back > least && isAlike(segments[from - back - 1], row[place - back - 1])) {
      const at = from - back
      const there = place - back
      if (isWithNumbers ? !isSameLine(segments, at - 1, row, there - 1) : !isNext(segments, at) || !isNext(row, there))
        break
      back++
    }
    return { from: from - back, length: back + ahead, at: place - back }
  }
}

/** Tests for consecutive line numbers, without which the first number does not determine the others. */
function isNext(segments: readonly Segment[], at: number): boolean {
  const number = segments[at]?.number ?? 0
  const before = segments[at - 1]?.number ?? 0
  return number === 0 ? before === 0 : before > 0 && number === before + 1
}

function isSameLine(segments: readonly Segment[], at: number, row: readonly Segment[], place: number): boolean {
  const [one, other] = [segments[at] ?? GAP, row[place] ?? GAP]
  return one.number === other.number && lineOf(one) === lineOf(other)
}
