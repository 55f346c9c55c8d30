import { type Frame, frameOf } from './frame.ts'
import {
  FRAME_WORDS,
  LIGHT_WORDS,
  NEGATIONS,
  NUMBER_WORDS,
  PHRASES,
  SAME_PREPOSITIONS,
  STOP_WORDS,
  STRONG_PREPOSITIONS,
  SYNONYMS,
  WEAK_PREPOSITIONS,
} from './lexicon.ts'
import { type Persons, personsOf } from './persons.ts'
import { stem } from './stem.ts'
import { type Token, type TokenKind, tokensOf } from './tokens.ts'

/** A word, number, name or sign that carries meaning. */
export interface Term {
  /** What is compared: the stem, or the first of its synonyms. */
  readonly key: string
  readonly kind: TokenKind
  /** The stem itself. */
  readonly stem: string
  readonly raw: string
  /** A capital where none need be. */
  readonly isName: boolean
  readonly isLight: boolean
  /** The preposition that leads to it, if any stands before it. */
  readonly mark: string
  /** `and`, `or`, `vs` stands right before it. */
  readonly isJoined: boolean
  /** Joined to a neighbour by a hyphen, which may stand for a preposition: `Oslo-Bergen`. */
  readonly isCompounded: boolean
}

/** A prompt as the guard reads it. */
export interface Reading {
  readonly frame: Frame
  /** In the order of the text. */
  readonly terms: readonly Term[]
  /** How many negations there are. */
  readonly negationCount: number
  readonly persons: Persons
  /** Every word of the rest, reduced, but those that nothing hangs on: `be`, articles, weak prepositions. */
  readonly words: readonly string[]
  /** The text without its frame, articles and endings: for prompts of which little else is left. */
  readonly bare: string
  /** Of the whole text, in characters. */
  readonly length: number
}

const CONTRACTIONS: readonly (readonly [RegExp, string])[] = [
  [/\bcan'?t\b/gi, 'can not'],
  [/\bcannot\b/gi, 'can not'],
  [/\bwon't\b/gi, 'will not'],
  [/\b(do|does|did|is|are|was|were|has|have|had|should|would|could|must)n'?t\b/gi, '$1 not'],
  [/\b(what|who|where|when|how|why|it|that|there|here|he|she|let)'s\b/gi, '$1 is'],
  [/\bwhats\b/gi, 'what is'],
  [/\b(\w+)'re\b/gi, '$1 are'],
  [/\b(\w+)'ve\b/gi, '$1 have'],
  [/\b(\w+)'ll\b/gi, '$1 will'],
  [/\b(\w+)'d\b/gi, '$1 would'],
  [/\b(i)'m\b/gi, '$1 am'],
]
/** `goal(s)`. */
const OPTIONAL_PLURAL = /(?<=\p{L}{3})\(e?s\)/gu
const LONGER_WORD = /\p{L}{4,8}/gu
/** Slips of the pen in the words that make the frame: `waht`, `shuold`. */
const SLIPS: ReadonlyMap<string, string> = slipsOfFrameWords()
const POSSESSIVE = /(?<=[\p{L}\p{N}])'s(?=[\s,.;:?!)]|$)/gu
const PREPOSITIONS: ReadonlySet<string> = new Set([...WEAK_PREPOSITIONS, ...STRONG_PREPOSITIONS])
const JOINS = new Set(['and', 'or', 'vs', 'versus', '&'])
const KEPT_CASE: ReadonlySet<TokenKind> = new Set<TokenKind>(['code', 'quote', 'symbol', 'number'])

const CANONICAL: ReadonlyMap<string, string> = canonicalStems()
const PHRASES_BY_FIRST = phrasesByFirstStem()

/** Reads a prompt: its frame, and the terms that carry its meaning. Time is linear in its length. */
export function readPrompt(text: string): Reading {
  const plain = plainText(text)
  const frame = frameOf(plain)
  const tokens = joinPhrases(tokensOf(frame.rest.replace(POSSESSIVE, '')))
  const terms = termsOf(tokens)
  return {
    frame,
    terms,
    negationCount: terms.filter(({ key }) => NEGATIONS.has(key)).length,
    persons: personsOf(plain, frame),
    words: wordsOf(tokens),
    bare: bareText(frame.rest),
    length: text.length,
  }
}

const WORD_ENDS = /[^\p{L}\p{N}]+/u
const ARTICLES = new Set(['a', 'an', 'the', 'some', 'any', 'of', ''])

function bareText(text: string): string {
  return text
    .toLowerCase()
    .split(WORD_ENDS)
    .filter((word) => !ARTICLES.has(word))
    .join(' ')
}

function plainText(text: string): string {
  let plain = text
    .normalize('NFC')
    .replace(/[‘’]/g, "'")
    .replace(/""/g, '"')
    .replace(OPTIONAL_PLURAL, 's')
    .replace(/\s+/g, ' ')
    .trim()
  for (const [pattern, full] of CONTRACTIONS) plain = plain.replace(pattern, full)
  return plain.replace(LONGER_WORD, (word) => SLIPS.get(word.toLowerCase()) ?? word)
}

function termsOf(tokens: readonly Token[]): Term[] {
  const terms: Term[] = []
  let mark = ''
  let isJoined = false
  for (const [index, token] of tokens.entries()) {
    const { key } = token
    if (JOINS.has(key)) isJoined = true
    const preposition = SAME_PREPOSITIONS.get(key) ?? key
    if (token.kind === 'word' && !token.isCompounded && PREPOSITIONS.has(preposition)) mark = preposition
    else if (isTerm(token, tokens[index + 1])) {
      terms.push(toTerm(token, { mark, isJoined, isFirst: index === 0 }))
      mark = ''
      isJoined = false
    }
  }
  return terms
}

const UNMOVED = new Set(
  'a an the some any is are was were am be been being does did exactly actually basically currently'.split(' '),
)

function wordsOf(tokens: readonly Token[]): string[] {
  return tokens
    .filter(({ key }) => !UNMOVED.has(key) && (key === 'of' || !WEAK_PREPOSITIONS.has(key)))
    .map(({ key, kind }) => (JOINS.has(key) ? 'and' : kind === 'word' ? reduced(key) : key))
}

function reduced(word: string): string {
  const root = stem(word)
  return CANONICAL.get(root) ?? root
}

const ACRONYM = /^\p{Lu}{2,4}$/u

/** `IT`, `US`, `WHO` are no small words; in a text that shouts, whatever is lost is a hit. */
function isAcronym(raw: string): boolean {
  return ACRONYM.test(raw)
}

/** `order number 7` is `order 7`, `the year 2011` is `2011`. */
const LABELS = new Set(['number', 'no', 'nr', 'year', 'id', '#'])

function isTerm({ kind, key, raw, isCompounded }: Token, next: Token | undefined): boolean {
  if (LABELS.has(key) && (next?.kind === 'number' || next?.kind === 'code')) return false
  if (kind !== 'word') return true
  return isAcronym(raw) || isCompounded || (!STOP_WORDS.has(key) && !JOINS.has(key))
}

function toTerm(token: Token, place: { mark: string; isJoined: boolean; isFirst: boolean }): Term {
  const { kind, key, raw, isCompounded = false } = token
  const { mark, isJoined, isFirst } = place
  if (KEPT_CASE.has(kind)) {
    const canonical = CANONICAL.get(key) ?? key
    return {
      key: canonical,
      kind,
      stem: key,
      raw,
      isName: kind === 'code',
      isLight: false,
      mark,
      isJoined,
      isCompounded,
    }
  }
  const number = NUMBER_WORDS.get(key)
  if (number !== undefined)
    return {
      key: number,
      kind: 'number',
      stem: number,
      raw,
      isName: false,
      isLight: false,
      mark,
      isJoined,
      isCompounded,
    }
  const root = stem(key)
  const isName = /\p{Lu}/u.test(isFirst ? raw.slice(1) : raw)
  return {
    key: CANONICAL.get(root) ?? root,
    kind,
    stem: root,
    raw,
    isName,
    isLight: LIGHT_WORDS.has(key),
    mark,
    isJoined,
    isCompounded,
  }
}

/** Puts one token where several words stand for one. */
function joinPhrases(tokens: readonly Token[]): Token[] {
  const joined: Token[] = []
  for (let i = 0; i < tokens.length; ) {
    const token = tokens[i]
    if (token === undefined) break
    const phrase = PHRASES_BY_FIRST.get(stem(token.key))?.find(({ stems }) =>
      stems.every((expected, k) => stem(tokens[i + k]?.key ?? '') === expected),
    )
    if (phrase === undefined) joined.push(token)
    else if (phrase.word !== '')
      joined.push({ ...token, kind: /^[<>=!]/.test(phrase.word) ? 'symbol' : 'word', key: phrase.word })
    i += phrase?.stems.length ?? 1
  }
  return joined
}

function phrasesByFirstStem(): ReadonlyMap<string, { stems: string[]; word: string }[]> {
  const phrases = PHRASES.map(([phrase, word]) => ({ stems: phrase.split(' ').map(stem), word }))
  phrases.sort((a, b) => b.stems.length - a.stems.length)
  return Map.groupBy(phrases, ({ stems }) => stems[0] ?? '')
}

function slipsOfFrameWords(): ReadonlyMap<string, string> {
  const slips = FRAME_WORDS.flatMap((word) =>
    Array.from({ length: word.length - 1 }, (_, i): [string, string] => [
      word.slice(0, i) + word.charAt(i + 1) + word.charAt(i) + word.slice(i + 2),
      word,
    ]),
  )
  return new Map(slips.filter(([slip]) => !FRAME_WORDS.includes(slip)))
}

function canonicalStems(): ReadonlyMap<string, string> {
  const canonical = new Map<string, string>()
  for (const group of SYNONYMS) {
    const [first = ''] = group
    for (const word of group) if (!canonical.has(stem(word))) canonical.set(stem(word), stem(first))
  }
  return canonical
}
