import { NO_SLIPS } from './lexicon.ts'
import type { Reading, Term } from './reading.ts'

/** Two readings side by side: which terms have no partner. */
export interface Pair {
  readonly asked: Reading
  readonly cached: Reading
  /** Terms of `asked` without a partner in `cached`, and the other way round. */
  readonly unmatchedAsked: readonly Term[]
  readonly unmatchedCached: readonly Term[]
  /** The terms of `asked` that have partners, in their order, and the places of those partners in `cached`. */
  readonly matched: readonly { readonly term: Term; readonly partner: Term; readonly place: number }[]
  /** Partners that differ by a synonym, and those that differ by a slip of the pen. */
  readonly synonymCount: number
  readonly slipCount: number
}

/** Finds each term's partner: the same key, else a slip of the pen. Equal keys are paired in order. */
export function pairUp(asked: Reading, cached: Reading): Pair {
  const free = new Map<string, number[]>()
  for (const [place, { key }] of cached.terms.entries()) {
    const places = free.get(key)
    if (places === undefined) free.set(key, [place])
    else places.push(place)
  }
  const taken = new Set<number>()
  const partners = asked.terms.map((term) => {
    const place = free.get(term.key)?.shift()
    if (place !== undefined) taken.add(place)
    return place
  })
  for (const [i, term] of asked.terms.entries()) {
    if (partners[i] !== undefined) continue
    const place = cached.terms.findIndex((other, k) => !taken.has(k) && isSlip(term, other))
    if (place === -1) continue
    partners[i] = place
    taken.add(place)
  }
  return toPair(asked, cached, { partners, taken })
}

function toPair(
  asked: Reading,
  cached: Reading,
  { partners, taken }: { partners: readonly (number | undefined)[]; taken: ReadonlySet<number> },
): Pair {
  const matched = asked.terms.flatMap((term, i) => {
    const place = partners[i]
    const partner = place === undefined ? undefined : cached.terms[place]
    return place === undefined || partner === undefined ? [] : [{ term, partner, place }]
  })
  return {
    asked,
    cached,
    matched,
    unmatchedAsked: asked.terms.filter((_, i) => partners[i] === undefined),
    unmatchedCached: cached.terms.filter((_, k) => !taken.has(k)),
    synonymCount: matched.filter(({ term, partner }) => term.key === partner.key && term.stem !== partner.stem).length,
    slipCount: matched.filter(({ term, partner }) => term.key !== partner.key).length,
  }
}

const SHORTEST_EXCHANGE = 5
const SHORTEST_DOUBLE = 7
const SHORTEST_GAP = 9

/** Two words of which one is the other with a slip of the pen, long enough and known for no such twin. */
function isSlip({ kind, raw: one }: Term, { kind: otherKind, raw: other }: Term): boolean {
  if (kind !== otherKind || kind !== 'word') return false
  const [a, b] = [one.toLowerCase(), other.toLowerCase()]
  if (NO_SLIPS.has(a) || NO_SLIPS.has(b)) return false
  return isExchange(a, b) || isDouble(a, b) || isGap(a, b) || isGap(b, a)
}

/** `pacrel`: two neighbouring letters exchanged. */
function isExchange(a: string, b: string): boolean {
  if (a.length !== b.length || a.length < SHORTEST_EXCHANGE) return false
  const i = firstDifference(a, b)
  return a[i] === b[i + 1] && a[i + 1] === b[i] && a.slice(i + 2) === b.slice(i + 2)
}

const DOUBLES = /([a-z])\1/g
/** Doubled for its ending's sake: `hopping` is not `hoping`. */
const DOUBLED_BY_ENDING = /([a-z])\1(?:ing|ed|ers?|y)$/

/** `accomodation`: a letter doubled or not. */
function isDouble(a: string, b: string): boolean {
  if (Math.min(a.length, b.length) < SHORTEST_DOUBLE || DOUBLED_BY_ENDING.test(a) || DOUBLED_BY_ENDING.test(b))
    return false
  return a.replace(DOUBLES, '$1') === b.replace(DOUBLES, '$1')
}

const KEPT_AT_START = 2
const KEPT_AT_END = 3

/** `intership`: a letter left out in the middle of a long word. */
function isGap(longer: string, shorter: string): boolean {
  if (longer.length !== shorter.length + 1 || longer.length < SHORTEST_GAP) return false
  const i = firstDifference(longer, shorter)
  return i >= KEPT_AT_START && i < longer.length - KEPT_AT_END && longer.slice(i + 1) === shorter.slice(i)
}

function firstDifference(a: string, b: string): number {
  let i = 0
  while (i < a.length && a[i] === b[i]) i++
  return i
}
