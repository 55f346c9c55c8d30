import { gutterOf } from './lossless/gutter.ts'

/** A piece of a text: a line, or a part of a long one. */
export interface Segment {
  /** The text itself, its end included: the segments of a text joined are the text. */
  readonly text: string
  /** The text without its line number and its line end. */
  readonly content: string
  /** What is compared: the content, or what takes its place. */
  readonly key: string
  /** The line's number, when the text has a gutter; else 0. */
  readonly number: number
}

const LONG_LINE = 300
/** Where a long line may be cut: behind an element of JSON, a row, an escaped line end, a sentence. */
const CUTS = /[}\]],|\\n|[.;] |, (?=['"])|,(?=\\*"[\w-]+\\*":)/g
const LEAST_PIECE = 40

/** The end of a text, where tools sum up: what stands there is compared as it is. */
const SUMMARY_LINES = 12

/** Cuts a text into segments. `keyOf` gives what is compared of a line. */
export function segmentsOf(text: string, keyOf: (content: string) => string = (content) => content): Segment[] {
  const lines = linesOf(text)
  const numbers = gutterNumbers(lines)
  const segments: Segment[] = []
  for (const [index, line] of lines.entries()) {
    if (line.length > LONG_LINE) {
      for (const piece of piecesOf(line)) segments.push({ text: piece, content: piece, key: piece, number: 0 })
      continue
    }
    const number = numbers?.[index] ?? 0
    const own = line.endsWith('\n') ? line.slice(0, -1) : line
    const content = number > 0 ? own.slice(gutterOf(own)?.width ?? 0) : own
    const key = index < lines.length - SUMMARY_LINES ? keyOf(content) : content
    segments.push({ text: line, content, key, number })
  }
  return segments
}

/** Lines with their ends. */
function linesOf(text: string): string[] {
  const lines: string[] = []
  let start = 0
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
    lines.push(text.slice(start, end + 1))
    start = end + 1
  }
  if (start < text.length) lines.push(text.slice(start))
  return lines
}

function piecesOf(line: string): string[] {
  const pieces: string[] = []
  let start = 0
  CUTS.lastIndex = 0
  for (let match = CUTS.exec(line); match !== null; match = CUTS.exec(line)) {
    const end = match.index + match[0].length
    if (end - start < LEAST_PIECE) continue
    pieces.push(line.slice(start, end))
    start = end
  }
  if (start < line.length) pieces.push(line.slice(start))
  return pieces
}

const LEAST_NUMBERED = 3

/**
 * The line numbers of a text that has a gutter, 0 for lines outside it; `undefined` for a text without one. A number
 * counts only beside its neighbour: `12:30 started` is no line 12.
 */
function gutterNumbers(lines: readonly string[]): number[] | undefined {
  const found = lines.map((line) => gutterOf(line)?.number ?? 0)
  let isNumbered = 0
  const numbers = found.map((number, index) => {
    const isConsecutive = number > 0 && (found[index - 1] === number - 1 || found[index + 1] === number + 1)
    if (isConsecutive) isNumbered++
    return isConsecutive ? number : 0
  })
  return isNumbered >= LEAST_NUMBERED ? numbers : undefined
}
