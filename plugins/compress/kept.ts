import { joined, type TextRange } from 'turnpike/plugin/bytes'

const PIN = /<keep>[\s\S]*?(?:<\/keep>|$)/g

/** The parts of a text that a reader has pinned with `<keep>…</keep>`, tags included; an open tag pins the rest. */
function pinnedRanges(text: string): TextRange[] {
  if (!text.includes('<keep>')) return []
  return [...text.matchAll(PIN)].map(({ index, 0: pin }) => ({ start: index, end: index + pin.length }))
}

/** A piece of a text, and whether it must stay as it is. */
export interface Piece {
  readonly text: string
  readonly isKept: boolean
}

/** Cuts a text at the parts that must stay: those given, and those pinned in the text itself. */
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
