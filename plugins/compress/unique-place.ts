import { anchorsOfPart, isAnchoredBy } from './pointer.ts'
import { opensLine, type Segment } from './segments.ts'

/** Most matches of the first words that are examined for uniqueness. */
const MOST_FINDS = 200

/** Lines as a pointer describes them. */
export interface LinesSought {
  readonly first: string
  readonly last: string
  readonly count: number
  /** Number of the first line; `undefined`: any. */
  readonly number: number | undefined
  /** Returns the text that anchors are compared with: a line with or without its number. */
  readonly readLine: (segment: Segment) => string
}

/** Tests that these readable segments have only one place of that many lines with these anchors. */
export function hasOneLinesPlace(segments: readonly Segment[], sought: LinesSought): boolean {
  let places = 0
  let finds = 0
  for (const [index, segment] of segments.entries()) {
    if (!opensLine(segment) || !isAnchoredBy(sought.readLine(segment), sought.first)) continue
    if (sought.number !== undefined && segment.number > 0 && segment.number !== sought.number) continue
    if (++finds > MOST_FINDS) return false
    if (isPlace(segments, index, sought)) places++
  }
  return places === 1
}

function isPlace(segments: readonly Segment[], from: number, { count, last, readLine }: LinesSought): boolean {
  let lines = 0
  for (let at = from; at < segments.length; at++) {
    const segment = segments[at]
    if (segment === undefined || isGap(segment)) return false
    if (opensLine(segment) && ++lines === count) return isAnchoredBy(readLine(segment), last)
  }
  return false
}

/** Tests that the text of these segments has only one place of that many characters with the anchors of `part`. */
export function hasOnePartPlace(segments: readonly Segment[], part: string): boolean {
  const text = segments.map((segment) => (isGap(segment) ? '\n' : segment.text)).join('')
  const { head, tail } = anchorsOfPart(part)
  let places = 0
  let finds = 0
  for (let at = text.indexOf(head); at !== -1; at = text.indexOf(head, at + 1)) {
    if (++finds > MOST_FINDS) return false
    const place = text.slice(at, at + part.length)
    if (place.length === part.length && place.endsWith(tail) && !place.includes('\n')) places++
  }
  return places === 1
}

function isGap({ kind }: Segment): boolean {
  return kind === 'gap'
}
