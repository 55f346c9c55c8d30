import { anchorOf, anchorsOfPart, isPlain, pointerTo } from './pointer.ts'
import { lineOf, opensLine, type Segment } from './segments.ts'
import { hasOneLinesPlace, hasOnePartPlace } from './unique-place.ts'

/** Earlier text that a run of lines repeats, and to which the pointer refers. */
export interface RunSource {
  /** Readable segments of the source. */
  readonly readable: readonly Segment[]
  /** Words of the pointer for the source, such as `above`. */
  readonly where: string
  /** True when the run equals its source to the character; false when durations differ. */
  readonly isExact: boolean
}

/** Returns the pointer to a part of a line; `undefined` when its anchors are ambiguous. */
export function pointerToPart(part: string, { readable, where, isExact }: RunSource): string | undefined {
  const { head, tail } = anchorsOfPart(part)
  if (!isPlain(head) || !isPlain(tail) || !hasOnePartPlace(readable, part)) return undefined
  return pointerTo({ extent: `${part.length} characters`, where, first: `${head}…`, last: `…${tail}`, isExact })
}

/**
 * Returns the pointer to whole lines at `place`; `undefined` when its extent and its anchors are ambiguous. Lines that
 * all have numbers match by their text alone. If only some have numbers, the numbers are part of the text.
 */
export function pointerToLines(
  lines: readonly Segment[],
  { place, readable, where, isExact }: RunSource & { place: readonly Segment[] },
): string | undefined {
  const isMixed = lines.some(({ number }) => number > 0) && lines.some(({ number }) => number === 0)
  const read = isMixed ? lineOf : ({ content }: Segment) => content
  const count = lines.filter(opensLine).length
  const numbers = { own: isMixed ? 0 : numberOf(lines), source: isMixed ? 0 : numberOf(place) }
  const sought = {
    first: anchorOf(firstLine(place, read)),
    last: anchorOf(lastLine(place, read)),
    count,
    number: numbers.own > 0 && numbers.source > 0 ? numbers.source : undefined,
    readLine: read,
  }
  if (!isPlain(sought.first) || !isPlain(sought.last) || !hasOneLinesPlace(readable, sought)) return undefined
  const isRenumbered = sought.number !== undefined && numbers.own !== numbers.source
  return pointerTo({
    extent: numbers.own > 0 ? linesFrom(numbers.own, count) : `${count} lines`,
    where: isRenumbered ? `${linesFrom(numbers.source, count)} ${where}` : where,
    first: gutterText(lines[0], numbers.own) + sought.first,
    last: gutterText(lines.at(-1), numbers.own) + sought.last,
    isExact,
  })
}

function numberOf(lines: readonly Segment[]): number {
  return lines[0]?.number ?? 0
}

function linesFrom(number: number, count: number): string {
  return `lines ${number}–${number + count - 1}`
}

function firstLine(lines: readonly Segment[], read: (line: Segment) => string): string {
  return lines[0] === undefined ? '' : read(lines[0])
}

function lastLine(lines: readonly Segment[], read: (line: Segment) => string): string {
  const last = lines.findLast(opensLine)
  return last === undefined ? '' : read(last)
}

/** Returns a line's number with its mark, unpadded, which shows in an anchor how the lines are numbered. */
function gutterText(line: Segment | undefined, number: number): string {
  if (line === undefined || number === 0) return ''
  const text = lineOf(line)
  return text.slice(0, text.length - line.content.length).trimStart()
}
