import { joined, type TextRange } from 'turnpike/plugin/bytes'

const PIN = /<keep>[\s\S]*?(?:<\/keep>|$)/g

/** Returns the ranges that a reader has pinned with `<keep>…</keep>`, tags included; an unclosed tag pins the rest. */
function pinnedRanges(text: string): TextRange[] {
  if (!text.includes('<keep>')) return []
  return [...text.matchAll(PIN)].map(({ index, 0: pin }) => ({ start: index, end: index + pin.length }))
}

/** Piece of a text, with a mark for verbatim pieces. */
export interface Piece {
  readonly text: string
  readonly isKept: boolean
}

/** Splits a text at the ranges that must be preserved: those given, and those pinned in the text itself. */
export function piecesOf(text: string, preserved: readonly TextRange[]): Piece[] {
  const pieces: Piece[] = []
  let at = 0
  for (const { start, end } of joined([...preserved, ...pinnedRanges(text)])) {
    if (start > at) pieces.push({ text: text.slice(at, start), isKept: false })
    pieces.push({ text: text.slice(start, end), isKept: true })
    at = end
  }
  if (at < text.length) pieces.push({ text: text.slice(at), isKept: false })
  return pieces
}
