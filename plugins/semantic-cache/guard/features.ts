import type { Pair } from './pair.ts'
import type { Term } from './reading.ts'

/** What the verifier is told of a pair, by name. Each between 0 and 1 or little above. */
export const FEATURE_NAMES = [
  'fewTerms',
  'lightUnmatched',
  'synonyms',
  'slips',
  'otherMarks',
  'missingMarks',
  'otherEndings',
  'smallWords',
  'moved',
  'otherOpening',
  'otherOwner',
  'lengthGap',
  'cosineGap',
] as const

const MANY_TERMS = 6

/** The features in the order of their names. `cosine` is that of the two texts' vectors. */
export function featuresOf(pair: Pair, cosine: number): number[] {
  const { asked, cached, matched } = pair
  const termCount = Math.max(1, matched.length)
  const share = (isSo: (term: Term, partner: Term) => boolean) =>
    matched.filter(({ term, partner }) => isSo(term, partner)).length / termCount
  return [
    Math.max(0, 1 - matched.length / MANY_TERMS),
    Math.min(3, pair.unmatchedAsked.length + pair.unmatchedCached.length) / 3,
    pair.synonymCount / termCount,
    pair.slipCount / termCount,
    share((term, partner) => term.mark !== partner.mark && term.mark !== '' && partner.mark !== ''),
    share((term, partner) => lacksMark(term, partner) || lacksMark(partner, term)),
    share((term, partner) => term.stem === partner.stem && term.raw.toLowerCase() !== partner.raw.toLowerCase()),
    1 - overlapOf(asked.bare, cached.bare),
    matched.some(({ place }, i) => i > 0 && place < (matched[i - 1]?.place ?? 0)) ? 1 : 0,
    asked.frame.opening === cached.frame.opening ? 0 : 1,
    asked.persons.isOwn === cached.persons.isOwn ? 0 : 1,
    1 - Math.min(asked.length, cached.length) / Math.max(1, asked.length, cached.length),
    1 - cosine,
  ]
}

/** Without the preposition of the other, and no hyphen that stands for it. */
function lacksMark(term: Term, partner: Term): boolean {
  return term.mark === '' && partner.mark !== '' && !term.isCompounded
}

/** Jaccard's measure over the words, small ones included. */
function overlapOf(one: string, other: string): number {
  const [a, b] = [new Set(one.split(' ')), new Set(other.split(' '))]
  const both = [...a].filter((word) => b.has(word)).length
  return both / (a.size + b.size - both)
}
