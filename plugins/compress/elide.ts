import type { TextRange } from 'turnpike/plugin/bytes'
import { distinctValues } from './distinct-values.ts'
import { piecesOf } from './kept.ts'
import { segmentsOf } from './segments.ts'

const HEAD_SEGMENTS = 8
const TAIL_SEGMENTS = 6
const HEAD_CHARACTERS = 150
const TAIL_CHARACTERS = 100
const MOST_ERRORS = 3
/**
 * Most names, numbers, paths and versions in a marker: nearly all of a gap. With ten, one in fifty that was used later
 * was lost.
 */
const MOST_NAMED = 200
const ELIDED = 'elided by the gateway'
const ERROR = /\b(?:error|exception|fail(?:ed|ure|s)?|fatal|panic|traceback|denied|not found)\b/i
/** Smallest gap, in characters, that is worth its marker. */
const LEAST_GAP = 120

/** Options for the elision of a result. */
export interface Elision {
  /** Removes text without information. */
  readonly strip: (text: string) => string
  /** Call that would return the result again. */
  readonly label: string
  readonly preserved: readonly TextRange[]
}

/**
 * Elides most of a text: its beginning, its end, error lines and preserved ranges remain. Each gap has a marker with
 * its size and the names in it; the first marker names the call that returns the text again.
 */
export function elide(text: string, elision: Elision): string {
  const pieces = piecesOf(text, elision.preserved)
  return pieces
    .map((piece) => (piece.isKept ? piece.text : elidePiece(elision.strip(piece.text), elision.label)))
    .join('')
}

function elidePiece(text: string, label: string): string {
  const parts = segmentsOf(text).map((segment) => segment.text)
  const kept = keptParts(parts)
  const seen = new Set<string>(parts.filter((_, index) => kept.has(index)).flatMap(distinctValues))
  let result = ''
  for (let at = 0; at < parts.length; ) {
    let end = at
    while (end < parts.length && !kept.has(end)) end++
    const gap = parts.slice(at, end)
    if (gap.length > 0) result += markerFor(gap, { label: result.includes(ELIDED) ? undefined : label, seen })
    if (end < parts.length) result += parts[end]
    at = end + 1
  }
  return result
}

function keptParts(parts: readonly string[]): Set<number> {
  const kept = new Set<number>()
  keepWithin(parts.slice(0, HEAD_SEGMENTS), HEAD_CHARACTERS, (index) => kept.add(index))
  const tail = parts.slice(-TAIL_SEGMENTS).toReversed()
  keepWithin(tail, TAIL_CHARACTERS, (index) => kept.add(parts.length - 1 - index))
  const errors = parts.flatMap((part, index) => (ERROR.test(part) ? [index] : []))
  for (const index of errors.slice(0, MOST_ERRORS)) kept.add(index)
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

/** Returns the marker of a gap; or the text itself, when that is hardly longer. */
function markerFor(gap: readonly string[], { label, seen }: { label: string | undefined; seen: Set<string> }): string {
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
  const remedy = label === undefined ? '' : `; repeat ${label} to see them`
  const names = named.length === 0 ? '' : `; they name ${named.join(' ')}`
  const marker = `[… ${amount} ${ELIDED}${remedy}${names} …]`
  if (marker.length >= text.length) return text
  return text.endsWith('\n') ? `${marker}\n` : marker
}
