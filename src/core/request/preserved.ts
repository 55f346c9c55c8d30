import type { Path } from '../json/splice.ts'

/** A text of the request that no plugin may change: the whole value at `path`, or a part of one string. */
export interface PreservedText {
  readonly path: Path
  /** First character of the part, in UTF-16 units of the string at `path`. Default: its beginning. */
  readonly start?: number
  /** First character after the part. Default: the end of the string. */
  readonly end?: number
  /** The reason, for people: `<keep>`, `tool Read`. */
  readonly reason: string
}

/** A part of a string, from `start` up to `end`, in UTF-16 units. */
export interface TextRange {
  readonly start: number
  readonly end: number
}

/** Returns the preserved parts of the string at `path`, of `length` units, in order and without overlaps. */
export function preservedRanges(
  preserved: readonly PreservedText[],
  { path, length }: { path: Path; length: number },
): TextRange[] {
  const ranges = preserved
    .filter((text) => isAtOrAbove(text.path, path))
    .map(({ start = 0, end = length }) => ({ start: Math.max(0, start), end: Math.min(end, length) }))
    .filter(({ start, end }) => start < end)
  return joined(ranges)
}

/** Returns whether `above` is `path` or leads to a value that contains it. */
function isAtOrAbove(above: Path, path: Path): boolean {
  return above.length <= path.length && above.every((step, index) => step === path[index])
}

/** Sorts the parts, and joins those that touch. */
export function joined(ranges: readonly TextRange[]): TextRange[] {
  const result: TextRange[] = []
  for (const range of ranges.toSorted((a, b) => a.start - b.start)) {
    const last = result.at(-1)
    if (last === undefined || range.start > last.end) result.push(range)
    else result[result.length - 1] = { start: last.start, end: Math.max(last.end, range.end) }
  }
  return result
}
