import type { FrameKind } from './frame.ts'
import { ANTONYMS, CRITICAL_WORDS, STRONG_PREPOSITIONS } from './lexicon.ts'
import { isReordered } from './order.ts'
import type { Pair } from './pair.ts'
import { areOthers } from './persons.ts'
import type { Reading, Term } from './reading.ts'
import { stem } from './stem.ts'

/** A reason why two prompts may not share an answer. */
export interface Rule {
  /** Stands in the trace. */
  readonly code: string
  /** Whether the pair is refused. */
  readonly vetoes: (pair: Pair) => boolean
}

/**
 * Vetoes that hold for every mode: each names something that, when it differs, makes another question. In the order in
 * which they are told; the first that vetoes gives the reason.
 */
export const VETOES: readonly Rule[] = [
  { code: 'numbers', vetoes: (pair) => differsIn(pair, ({ kind }) => kind === 'number') },
  { code: 'code', vetoes: (pair) => differsIn(pair, ({ kind }) => kind === 'code') },
  { code: 'quotes', vetoes: (pair) => differsIn(pair, ({ kind }) => kind === 'quote') },
  { code: 'operators', vetoes: (pair) => differsIn(pair, ({ kind }) => kind === 'symbol') },
  { code: 'negation', vetoes: ({ asked, cached }) => asked.negationCount !== cached.negationCount },
  { code: 'antonyms', vetoes: hasAntonyms },
  { code: 'limits', vetoes: (pair) => differsIn(pair, ({ stem }) => CRITICAL_STEMS.has(stem)) },
  { code: 'entities', vetoes: hasOtherNames },
  { code: 'directions', vetoes: hasOtherDirections },
  { code: 'order', vetoes: isReordered },
  { code: 'question', vetoes: ({ asked, cached }) => isOtherQuestion(asked, cached) },
  { code: 'length', vetoes: ({ asked, cached }) => isMuchLonger(asked, cached) },
]

/** Vetoes of mode `strict`, after the others: whatever is said on one side only. */
export const STRICT_VETOES: readonly Rule[] = [
  { code: 'substitution', vetoes: (pair) => pair.unmatchedAsked.length > 0 && pair.unmatchedCached.length > 0 },
  { code: 'addition', vetoes: hasAddition },
  { code: 'tense', vetoes: ({ asked, cached }) => isOtherTense(asked, cached) },
  { code: 'pointing', vetoes: ({ asked, cached }) => asked.persons.isPointing !== cached.persons.isPointing },
  { code: 'persons', vetoes: ({ asked, cached }) => areOthers(asked.persons, cached.persons) },
  { code: 'means', vetoes: hasOtherMeans },
  { code: 'short', vetoes: isShortAndUnequal },
]

/** `How do I be …`, `how do I become …`; `how do I start making …`, `how do I make …`. */
const LIGHT_IN_HOW = new Set(['become', 'get', 'begin', 'learn'].map(stem))
const CRITICAL_STEMS = new Set([...CRITICAL_WORDS].map(stem))
const OPPOSITES = opposites()

function differsIn({ unmatchedAsked, unmatchedCached }: Pair, isKind: (term: Term) => boolean): boolean {
  return unmatchedAsked.some(isKind) || unmatchedCached.some(isKind)
}

function hasAntonyms({ unmatchedAsked, unmatchedCached }: Pair): boolean {
  return unmatchedAsked.some(({ stem: one }) => {
    const others = OPPOSITES.get(one)
    return others !== undefined && unmatchedCached.some(({ stem: other }) => others.has(other))
  })
}

function opposites(): ReadonlyMap<string, ReadonlySet<string>> {
  const all = new Map<string, Set<string>>()
  const add = (one: string, other: string) => {
    const known = all.get(stem(one)) ?? new Set<string>()
    all.set(stem(one), known.add(stem(other)))
  }
  for (const [one, other] of ANTONYMS) {
    add(one, other)
    add(other, one)
  }
  return all
}

/** A name on both sides without a partner; one that the other side writes without its capital has a partner. */
function hasOtherNames({ unmatchedAsked, unmatchedCached }: Pair): boolean {
  const isName = ({ isName }: Term) => isName
  return unmatchedAsked.some(isName) && unmatchedCached.some(isName)
}

/** `from` here and `to` there, before the same word. */
function hasOtherDirections({ matched }: Pair): boolean {
  return matched.some(({ term, partner }) => {
    if (term.mark === partner.mark) return false
    if (term.mark === '' || partner.mark === '' || arePurposes(term, partner)) return false
    return STRONG_PREPOSITIONS.has(term.mark) || STRONG_PREPOSITIONS.has(partner.mark)
  })
}

/** `books to learn Danish`, `books for learning Danish`. */
function arePurposes(...terms: readonly Term[]): boolean {
  return terms.some(({ mark }) => mark === 'to') && terms.some(({ mark, raw }) => mark === 'for' && raw.endsWith('ing'))
}

function isOtherQuestion(asked: Reading, cached: Reading): boolean {
  const [one, other] = [asked.frame, cached.frame]
  return !areOfOneKind(one.kind, other.kind) || one.sense !== other.sense
}

function areOfOneKind(one: FrameKind, other: FrameKind): boolean {
  const isOpen = (kind: FrameKind) => kind === 'bare' || kind === 'what' || kind === 'task'
  return one === other || ((one === 'bare' || other === 'bare') && isOpen(one) && isOpen(other))
}

function isOtherTense({ frame: one }: Reading, { frame: other }: Reading): boolean {
  const tenses = [one.tense, other.tense]
  return one.tense !== other.tense && (tenses.includes('future') || !tenses.includes('unsaid'))
}

/** `by card` or `with the card` here, and `my card`, `for a card` there. */
function hasOtherMeans({ matched }: Pair): boolean {
  return matched.some(({ term: { mark: one }, partner: { mark: other } }) => {
    if ((one === 'by') !== (other === 'by')) return true
    return (one === 'with' && other === '') || (one === '' && other === 'with')
  })
}

const FEWEST_TERMS = 2

/** Where one word is all there is, the small ones make the question: `what is wire` is not `what is the wire about`. */
function isShortAndUnequal({ asked, cached }: Pair): boolean {
  const hasOne = ({ terms }: Reading) => terms.length < FEWEST_TERMS && terms.every(({ kind }) => kind === 'word')
  return (hasOne(asked) || hasOne(cached)) && asked.bare !== cached.bare
}

const MOST_TIMES_LONGER = 2.5
const SHORT_CHARACTERS = 60

function isMuchLonger({ length: one }: Reading, { length: other }: Reading): boolean {
  return Math.max(one, other) > SHORT_CHARACTERS && Math.max(one, other) > MOST_TIMES_LONGER * Math.min(one, other)
}

function hasAddition({ asked, cached, unmatchedAsked, unmatchedCached }: Pair): boolean {
  const unmatched = [...unmatchedAsked, ...unmatchedCached]
  const isHow = asked.frame.kind === 'how' && cached.frame.kind === 'how'
  if (isHow && unmatched.length === 1 && unmatched.some(({ key }) => LIGHT_IN_HOW.has(key))) return false
  return unmatched.some((term) => !term.isLight)
}
