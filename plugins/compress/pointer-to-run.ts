import { anchorOf, anchorsOfPart, isPlain, pointerTo } from './pointer.ts'
import { lineOf, opensLine, type Segment } from './segments.ts'
import { hasOneLinesPlace, hasOnePartPlace } from './unique-place.ts'

/** Source of a run. */
export interface Target {
  /** Readable segments of the source. */
  readonly readable: readonly Segment[]
  /** Description of the source. */
  readonly where: string
  /** Set for equality to the character; otherwise times differ. */
  readonly isExact: boolean
}

/** Returns the pointer to a part of a line; `undefined` when its anchors are ambiguous. */
export function pointerToPart(part: string, { readable, where, isExact }: Target): string | undefined {
  const { head, tail } = anchorsOfPart(part)
  if (!isPlain(head) || !isPlain(tail) || !hasOnePartPlace(readable, part)) return undefined
  return pointerTo({ extent: `${part.length} characters`, where, first: `${head}…`, last: `…${tail}`, isExact })
}

/**
 * Returns the pointer to whole lines at `place`; `undefined` when its extent and its anchors are ambiguous. Numbered
 * lines match by their text under any number; lines of which only some have one, with their numbers.
 */
export function pointerToLines(
  lines: readonly Segment[],
  { place, readable, where, isExact }: Target & { place: readonly Segment[] },
): string | undefined {
  const isMixed = lines.some(({ number }) => number > 0) && lines.some(({ number }) => number === 0)
  const read = isMixed ? lineOf : ({ content }: Segment) => content
  const count = lines.filter(opensLine).length
  const numbers = { own: isMixed ? 0 : numberOf(lines), there: isMixed ? 0 : numberOf(place) }
  const sought = {
    first: anchorOf(firstLine(place, read)),
    last: anchorOf(lastLine(place, read)),
    count,
    number: numbers.own > 0 && numbers.there > 0 ? numbers.there : undefined,
    readLine: read,
  }
  if (!isPlain(sought.first) || !isPlain(sought.last) || !hasOneLinesPlace(readable, sought)) return undefined
  const isRenumbered = sought.number !== undefined && numbers.own !== numbers.there
  return pointerTo({
    extent: numbers.own > 0 ? linesFrom(numbers.own, count) : `${count} lines`,
    where: isRenumbered ? `${linesFrom(numbers.there, count)} ${where}` : where,
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
