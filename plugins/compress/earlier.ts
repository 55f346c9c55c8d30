import { isAlike, lineOf, type Segment } from './segments.ts'

/**
 * DESIGN: what the provider is sent of the conversation so far, and where it stands.
 *
 *     source 0  a b c d          find(c d e …) ─► source 0, segments 2..3
 *     source 1  [pointer] e f
 *
 * Segments are kept in one row, sources behind each other with a gap between them; an index leads from a segment to its
 * places. The row has only what can be read there: a pointer is a gap, so that no pointer leads to a pointer. It only
 * grows at its end, so that it can be taken back to what it was after any message.
 *
 * Limits: of a segment with many places, the first few are known; short ones (`}`, blank lines) begin no run; of a text
 * that is like itself everywhere, only so much is compared.
 */

/** Text that the conversation has: what a tool returned, what it was given. */
export interface Source<Origin> {
  readonly origin: Origin
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
const GAP: Segment = { text: '\u0000', content: '\u0000', key: '\u0000', kind: 'gap', number: 0 }

/** Everything that can be read so far in one conversation. */
export class Earlier<Origin> {
  readonly #row: Segment[] = []
  readonly #places = new Map<string, number[]>()
  readonly #sources: Source<Origin>[] = []
  #comparisons = 0

  /** How far it has grown: to be given to `cutBack`. */
  get length(): number {
    return this.#row.length
  }

  /** Begins a source: what is added from now on stands there. */
  begin(origin: Origin): Source<Origin> {
    this.gap()
    this.#comparisons = 0
    const source = { origin, start: this.#row.length }
    this.#sources.push(source)
    return source
  }

  /** Leaves a gap, over which nothing runs. */
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

  /** Forgets what was added since it had this length. */
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

  /** The source that a segment of the row stands in. */
  sourceAt(at: number): Source<Origin> | undefined {
    return this.#sources[this.#sourceIndex(at)]
  }

  /** All that can be read of the source in which a segment stands; `undefined` when too much was compared already. */
  sourceAround(at: number): readonly Segment[] | undefined {
    const index = this.#sourceIndex(at)
    const segments = this.#row.slice(this.#sources[index]?.start, this.#sources[index + 1]?.start)
    this.#comparisons += segments.length
    return this.#comparisons > MOST_COMPARISONS ? undefined : segments
  }

  /** Segments of the row. */
  slice(at: number, length: number): readonly Segment[] {
    return this.#row.slice(at, at + length)
  }

  /** Checks whether a run stood there to the character, and not only in what is compared. */
  isExact(segments: readonly Segment[], { from, length, at }: Run): boolean {
    for (let index = 0; index < length; index++) {
      if (segments[from + index]?.content !== this.#row[at + index]?.content) return false
    }
    return true
  }

  /** Checks whether there is a source that `isWanted`. */
  has(isWanted: (origin: Origin) => boolean): boolean {
    return this.#sources.some(({ origin }) => isWanted(origin))
  }

  /** Checks whether a line can be read in a source that `isWanted`. */
  hasLine(line: string, isWanted: (origin: Origin) => boolean): boolean {
    const places = this.#places.get(line) ?? []
    return places.some((place) => {
      const source = this.sourceAt(place)
      return source !== undefined && isWanted(source.origin)
    })
  }

  /**
   * The longest run of `segments` around `from`, not before `least`, that stood somewhere; the earliest of equals.
   * `hasNumbers`: some of the segments have line numbers.
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
   * Lines go on with the next number, or without one, on either side; or, `isWithNumbers`, they are the same with their
   * numbers, and with lines between them that have none.
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

/** Checks whether a line has the number after that of the line before it: else the first number would not give the others. */
function isNext(segments: readonly Segment[], at: number): boolean {
  const number = segments[at]?.number ?? 0
  const before = segments[at - 1]?.number ?? 0
  return number === 0 ? before === 0 : before > 0 && number === before + 1
}

function isSameLine(segments: readonly Segment[], at: number, row: readonly Segment[], place: number): boolean {
  const [one, other] = [segments[at] ?? GAP, row[place] ?? GAP]
  return one.number === other.number && lineOf(one) === lineOf(other)
}
