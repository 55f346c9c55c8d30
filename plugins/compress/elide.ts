import type { TextRange } from 'turnpike/plugin'
import { piecesOf } from './kept.ts'
import { segmentsOf } from './segments.ts'
import { distinctValues } from './used-values.ts'

const HEAD_SEGMENTS = 8
const TAIL_SEGMENTS = 6
const HEAD_CHARACTERS = 400
const TAIL_CHARACTERS = 300
const MOST_ERRORS = 8
const MOST_NAMED = 40
const ERROR = /\b(?:error|exception|fail(?:ed|ure|s)?|fatal|panic|traceback|denied|not found)\b/i
/** A gap smaller than this is not worth its marker. */
const LEAST_GAP = 120

/** What is known of a result that is to be elided. */
export interface Elision {
  /** Takes out of the text what says nothing. */
  readonly strip: (text: string) => string
  /** The call that would bring it back, in words. */
  readonly label: string
  /** Values that the assistant has used since. */
  readonly used: ReadonlySet<string>
  readonly preserved: readonly TextRange[]
}

/**
 * A text without most of it: its beginning, its end, lines that tell of errors or that have a value in use remain, and so
 * does what is preserved. A marker stands in every gap and says how much is missing, what it named, how to get it back.
 */
export function elide(text: string, elision: Elision): string {
  const pieces = piecesOf(text, elision.preserved)
  return pieces.map((piece) => (piece.isKept ? piece.text : elidePiece(elision.strip(piece.text), elision))).join('')
}

function elidePiece(text: string, { label, used }: Pick<Elision, 'label' | 'used'>): string {
  const parts = segmentsOf(text).map((segment) => segment.text)
  const kept = keptParts(parts, used)
  const seen = new Set<string>(parts.filter((_, index) => kept.has(index)).flatMap(distinctValues))
  let result = ''
  for (let at = 0; at < parts.length; ) {
    let end = at
    while (end < parts.length && !kept.has(end)) end++
    const gap = parts.slice(at, end)
    result += gap.length === 0 ? '' : markerFor(gap, { label, seen })
    if (end < parts.length) result += parts[end]
    at = end + 1
  }
  return result
}

function keptParts(parts: readonly string[], used: ReadonlySet<string>): Set<number> {
  const kept = new Set<number>()
  keepWithin(parts.slice(0, HEAD_SEGMENTS), HEAD_CHARACTERS, (index) => kept.add(index))
  const tail = parts.slice(-TAIL_SEGMENTS).toReversed()
  keepWithin(tail, TAIL_CHARACTERS, (index) => kept.add(parts.length - 1 - index))
  const errors = parts.flatMap((part, index) => (ERROR.test(part) ? [index] : []))
  for (const index of errors.slice(0, MOST_ERRORS)) kept.add(index)
  const found = new Set<string>()
  for (const [index, part] of parts.entries()) {
    const values = distinctValues(part).filter((value) => used.has(value) && !found.has(value))
    if (values.length === 0) continue
    for (const value of values) found.add(value)
    kept.add(index)
  }
  return kept
}

function keepWithin(parts: readonly string[], characters: number, keep: (index: number) => void): void {
  let left = characters
  for (const [index, part] of parts.entries()) {
    left -= part.length
    if (left < 0) return
    keep(index)
  }
}

/** Says what is missing; or the text itself, when that is hardly longer. */
function markerFor(gap: readonly string[], { label, seen }: { label: string; seen: Set<string> }): string {
  const text = gap.join('')
  if (text.length < LEAST_GAP) return text
  const lines = text.split('\n').length - 1
  const amount = lines > 1 ? `${lines} lines` : `${text.length} characters`
  const named: string[] = []
  for (const value of distinctValues(text)) {
    if (named.length >= MOST_NAMED) break
    if (seen.has(value)) continue
    seen.add(value)
    named.push(value)
  }
  const names = named.length === 0 ? '' : ` They name ${named.join(' ')}.`
  const marker = `[… ${amount} elided by the gateway; repeat ${label} to see them.${names} …]`
  if (marker.length >= text.length) return text
  return text.endsWith('\n') ? `${marker}\n` : marker
}
