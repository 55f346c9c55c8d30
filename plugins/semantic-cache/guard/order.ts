import { NEGATIONS, STRONG_PREPOSITIONS } from './lexicon.ts'
import type { Pair } from './pair.ts'
import type { Reading, Term } from './reading.ts'

/**
 * Whether the same words stand in an order that makes another question. What may move without harm: the two sides of
 * `and`, `or`, `vs`, word by word; a phrase that takes its preposition with it; and a name, number, quotation or piece of
 * code past plain words that keep their own order, as long as it does not pass one of its kind.
 */
export function isReordered({ matched, asked, cached }: Pair): boolean {
  if (isRising(matched.map(({ place }) => place))) return isPermuted(asked.words, cached.words)
  if (isJointSwap(asked.words, cached.words) || isAttributiveSwap(matched, cached.terms)) return false
  if (movesAsPhrases(matched)) return false
  return !keepsOrderWithinKinds(matched) || isPermuted(plainWordsOf(asked), plainWordsOf(cached))
}

/** Whether both are made of the same words, in another order: small words move where others do not (`just … or really …`). */
function isPermuted(one: readonly string[], other: readonly string[]): boolean {
  if (one.length !== other.length || isEqual(one, other) || isJointSwap(one, other)) return false
  return isEqual([...one].sort(), [...other].sort())
}

/** Without names and values. */
function plainWordsOf({ words, terms }: Reading): string[] {
  const values = new Set(terms.filter(({ kind, isName }) => isName || kind !== 'word').map(({ key }) => key))
  return words.filter((word) => !values.has(word))
}

/** Whether two neighbouring runs of words with a conjunction between them, exchanged, make one the other. */
function isJointSwap(one: readonly string[], other: readonly string[]): boolean {
  if (one.length !== other.length || one.some((word) => NEGATIONS.has(word))) return false
  return one.some((word, joint) => word === 'and' && swapsAround(one, joint).some((words) => isEqual(words, other)))
}

/** The words, with up to four before a conjunction and up to four behind it exchanged. */
function swapsAround(words: readonly string[], joint: number): string[][] {
  const swaps: string[][] = []
  for (let left = 1; left <= Math.min(LONGEST_CONJUNCT, joint); left++)
    for (let right = 1; right <= Math.min(LONGEST_CONJUNCT, words.length - joint - 1); right++)
      swaps.push([
        ...words.slice(0, joint - left),
        ...words.slice(joint + 1, joint + 1 + right),
        'and',
        ...words.slice(joint - left, joint),
        ...words.slice(joint + 1 + right),
      ])
  return swaps
}

function isRising(places: readonly number[]): boolean {
  return places.every((place, i) => i === 0 || place > (places[i - 1] ?? 0))
}

const LONGEST_CONJUNCT = 4
/** `episodes of the show` are `the show's episodes`, `books on tax` are `tax books`. */
const ATTRIBUTIVE = new Set(['of', 'on', 'for', 'about'])

/** Compares keys, not places: of a word that comes twice either may be meant. */
function isAttributiveSwap(matched: Pair['matched'], cachedTerms: readonly Term[]): boolean {
  const asked = matched.map(({ term }) => term)
  const places = new Set(matched.map(({ place }) => place))
  const cached = cachedTerms.filter((_, place) => places.has(place))
  return canBecome(asked, cached) || canBecome(cached, asked)
}

/** Whether a phrase with `of` of `from`, put before what it belongs to, gives `to`, where no such phrase takes its place. */
function canBecome(from: readonly Term[], to: readonly Term[]): boolean {
  if (from.some(({ key }) => NEGATIONS.has(key))) return false
  const wanted = to.map(({ key }) => key)
  return from.some(
    ({ mark }, start) =>
      ATTRIBUTIVE.has(mark) &&
      swapsAt(from, start).some(({ keys, place }) => isEqual(keys, wanted) && !ATTRIBUTIVE.has(to[place]?.mark ?? '')),
  )
}

/** The keys, with up to four terms before `start` and up to four from it on exchanged, and where the former are then. */
function swapsAt(terms: readonly Term[], start: number): { keys: string[]; place: number }[] {
  const keys = terms.map(({ key }) => key)
  const swaps: { keys: string[]; place: number }[] = []
  for (let left = 1; left <= Math.min(LONGEST_CONJUNCT, start); left++)
    for (let right = 1; right <= Math.min(LONGEST_CONJUNCT, keys.length - start); right++) {
      const [before, phrase] = [keys.slice(start - left, start), keys.slice(start, start + right)]
      swaps.push({
        keys: [...keys.slice(0, start - left), ...phrase, ...before, ...keys.slice(start + right)],
        place: start - left + right,
      })
    }
  return swaps
}

function isEqual(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((key, i) => key === other[i])
}

function keepsOrderWithinKinds(matched: Pair['matched']): boolean {
  const lastPlaces = new Map<string, number>()
  return matched.every(({ term, partner, place }) => {
    const kind = term.isName && partner.isName ? 'name' : term.kind === 'word' ? 'word' : 'value'
    const isBehind = place > (lastPlaces.get(kind) ?? -1)
    lastPlaces.set(kind, place)
    return isBehind
  })
}

interface Phrase {
  readonly places: number[]
}

/** Whether both sides consist of the same phrases, each led by the same preposition, with the same order inside. */
function movesAsPhrases(matched: Pair['matched']): boolean {
  const phrases: Phrase[] = []
  for (const { term, partner, place } of matched) {
    const last = phrases.at(-1)
    const begins = term.mark !== '' || partner.mark !== '' || last === undefined
    if (begins && term.mark !== partner.mark && !isTime(term, partner)) return false
    if (begins) phrases.push({ places: [place] })
    else last.places.push(place)
  }
  return phrases.every(({ places }) => isRising(places) && isTogether(places))
}

/** A weak preposition before a number says when or how much, whichever it is. */
function isTime(term: Term, partner: Term): boolean {
  const marks = [term.mark, partner.mark]
  return term.kind === 'number' && marks.every((mark) => mark !== '' && !STRONG_PREPOSITIONS.has(mark))
}

function isTogether(places: readonly number[]): boolean {
  return (places.at(-1) ?? 0) - (places[0] ?? 0) === places.length - 1
}
