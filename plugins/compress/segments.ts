import { gutterOf, lineNumbers } from './lossless/gutter.ts'

/** Segment of a text: a line, or a part of a long one. */
export interface Segment {
  /** Text with its line end: the joined segments are the text. */
  readonly text: string
  /** Text without line number and line end. */
  readonly content: string
  /** Key of comparison for segments of one kind: the content, or its normalised form. */
  readonly key: string
  readonly kind: SegmentKind
  /** Line number, when the text has a gutter; else 0. */
  readonly number: number
}

/** A line, a part of one, or a gap for unreadable text. */
export type SegmentKind = 'line' | 'opening' | 'middle' | 'closing' | 'gap'

/** Tests for a segment that begins a line. */
export function opensLine({ kind }: Segment): boolean {
  return kind === 'line' || kind === 'opening'
}

/** Tests for a segment that ends a line. */
export function closesLine({ kind }: Segment): boolean {
  return kind === 'line' || kind === 'closing'
}

/** Tests two segments for equal keys. */
export function isAlike(one: Segment | undefined, other: Segment | undefined): boolean {
  return one !== undefined && other !== undefined && one.key === other.key && one.kind === other.kind
}

/** Options for splitting a text. */
export interface Cutting {
  /** Returns the key of a line for comparison. */
  readonly keyOf: (content: string) => string
  /** Set when the text is a part of another one, and begins or ends within a line of it. */
  readonly beginsInLine: boolean
  readonly endsInLine: boolean
}

const WHOLE: Cutting = { keyOf: (content) => content, beginsInLine: false, endsInLine: false }
const LONG_LINE = 300
/**
 * Matches the places where a long line may be cut: behind an element of JSON, a row, an escaped line end, a sentence.
 */
const CUTS = /[}\]],|\\n|[.;] |, (?=['"])|,(?=\\*"[\w-]+\\*":)/g
const LEAST_PIECE = 40
const OPEN_OBJECT = 123
const CLOSE_OBJECT = 125
const SPACE = 32

/** Lines at the end of a text, where tools print their summary: compared verbatim. */
const SUMMARY_LINES = 12

/** Splits a text into segments. */
export function segmentsOf(text: string, cutting: Partial<Cutting> = {}): Segment[] {
  const { keyOf, beginsInLine, endsInLine } = { ...WHOLE, ...cutting }
  const lines = linesOf(text)
  const numbers = lineNumbers(lines)
  const segments: Segment[] = []
  for (const [index, line] of lines.entries()) {
    const opens = index > 0 || !beginsInLine
    const closes = index < lines.length - 1 || !endsInLine || line.endsWith('\n')
    if (line.length > LONG_LINE || !opens || !closes) {
      segments.push(...partsOfLine(line, opens, closes))
      continue
    }
    const number = numbers?.[index] ?? 0
    const own = line.endsWith('\n') ? line.slice(0, -1) : line
    const content = number > 0 ? own.slice(gutterOf(own)?.width ?? 0) : own
    const key = index < lines.length - SUMMARY_LINES ? keyOf(content) : content
    segments.push({ text: line, content, key, number, kind: 'line' })
  }
  return segments
}

/** Returns a segment without its line end. */
export function lineOf({ text }: Segment): string {
  return text.endsWith('\n') ? text.slice(0, -1) : text
}

/** Splits a text into lines with their ends. */
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

function partsOfLine(line: string, opens: boolean, closes: boolean): Segment[] {
  const pieces = piecesOf(line)
  return pieces.map((text, index) => {
    const isFirst = opens && index === 0
    const isLast = closes && index === pieces.length - 1
    const kind = isFirst && isLast ? 'line' : isFirst ? 'opening' : isLast ? 'closing' : 'middle'
    const content = text.endsWith('\n') ? text.slice(0, -1) : text
    return { text, content, key: content, kind, number: 0 }
  })
}

function piecesOf(line: string): string[] {
  const pieces: string[] = []
  let start = 0
  CUTS.lastIndex = 0
  for (let match = CUTS.exec(line); match !== null; match = CUTS.exec(line)) {
    const end = match.index + match[0].length
    if (end - start < LEAST_PIECE && !isBetweenElements(line, end)) continue
    pieces.push(line.slice(start, end))
    start = end
  }
  if (start < line.length) pieces.push(line.slice(start))
  return pieces
}

/** Tests for a border between two objects of a list, where lists are cut. */
function isBetweenElements(line: string, end: number): boolean {
  const next = line.charCodeAt(end) === SPACE ? end + 1 : end
  return line.charCodeAt(end - 2) === CLOSE_OBJECT && line.charCodeAt(next) === OPEN_OBJECT
}
