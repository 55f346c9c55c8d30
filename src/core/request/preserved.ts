import type { Path } from '../json/splice.ts'

/** A text of the request that no module may change: the value at `path` with all that is in it, or a part of one string. */
export interface PreservedText {
  readonly path: Path
  /** First character of the part, in UTF-16 units of the string at `path`. Default: its beginning. */
  readonly start?: number
  /** The character behind the part. Default: its end. */
  readonly end?: number
  /** Why, for people: `<keep>`, `tool Read`. */
  readonly reason: string
}

/** A part of a string, from `start` up to `end`, in UTF-16 units. */
export interface TextRange {
  readonly start: number
  readonly end: number
}

/** The parts of the string at `path`, of `length` units, that are preserved: in their order, without overlaps. */
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

/** Whether `above` leads to `path` or to something that it is in. */
function isAtOrAbove(above: Path, path: Path): boolean {
  return above.length <= path.length && above.every((step, index) => step === path[index])
}

/** The same parts in their order, with those that touch made one. */
export function joined(ranges: readonly TextRange[]): TextRange[] {
  const result: TextRange[] = []
  for (const range of ranges.toSorted((a, b) => a.start - b.start)) {
    const last = result.at(-1)
    if (last === undefined || range.start > last.end) result.push(range)
    else result[result.length - 1] = { start: last.start, end: Math.max(last.end, range.end) }
  }
  return result
}
