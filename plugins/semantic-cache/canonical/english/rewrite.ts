import { PLACEHOLDERS, placeholderIndex, placeholderOf, type Reading, type Token } from '../read.ts'
import { withoutClosingMark } from './closing-mark.ts'
import { isCount } from './counts.ts'
import { withoutCourtesies } from './courtesies.ts'
import { framed } from './frames.ts'
import { isStarter } from './language.ts'
import {
  ABOUT_UNQUOTED,
  ABOUT_WORDING,
  ACRONYMS,
  BRANDS,
  CONTRACTIONS,
  NAMED_KINDS,
  NAMES,
  NUMBER_WORDS,
  SLIPS,
  SPELLINGS,
} from './words.ts'

const ANY_PLACEHOLDER = new RegExp(PLACEHOLDERS.any, 'g')
const PLAIN_NUMBER = /^\d+(?:[.:]\d+)?$/
/** Matches thousands; in other numbers a comma may be a separator. */
const THOUSANDS = /^\d{1,3}(?:,\d{3})*,000$/
const CAPITALISED = /^[A-Z][a-z]+(?:'[a-z]+)?$/
const LOWER = /^[a-z]+(?:['-][a-z]+)*'?$/
/**
 * Matches contexts in which `I` is the pronoun: before a verb and behind an auxiliary; elsewhere it may be a letter.
 */
const BEFORE_I =
  /^(?:do|does|did|can|could|should|would|will|may|might|must|shall|am|was|have|had|if|that|when|where|what|how|why|and|because|but|so|which|who|than|as|while|before|after|[a-z]+n't)$/
const AFTER_I =
  /^(?:am|was|have|had|want|wanted|need|needed|would|will|can|could|should|do|did|do|get|got|forgot|lost|think|know|use|like|love|live|just|cannot|can't|don't|didn't|must|may|still|also|never|wish|wonder|bought|paid|ordered|received)$/i
const PREPOSITION = /^(?:for|of|to|from|with|by|as|in|on|at|or|and|into|like)$/i
/** Matches a word before which `'s` is no `has`. */
const BEHIND_IS = /^(?:the|an?|my|your|our|his|her|its|their|this|that|in|on|at|for|not|noon|midnight)$|^[^a-z]/
/** Matches verbs before which `'d` is `would`. */
const LIKES = /^(?:like|love|prefer|rather)$/
const STARTS_SENTENCE = /^[.?!…:]$/
const QUOTED = /^[`"“']/u
const MENTION = new RegExp(`^(?:what does ${PLACEHOLDERS.quote} mean|translate ${PLACEHOLDERS.quote} to [a-z]+)$`)
const TIME = /^(\d{1,2}(?::\d{2})?)\s?([AaPp])\.?[Mm]\.?$/
const UNITS = new Set('km kg cm mm mg ml mph kb gb tb'.split(' '))

/**
 * Rewrites an English question canonically: words in lower case, one spelling for each, no courtesies, one phrasing for
 * each frame. `undefined` for a text that may be about its own wording.
 */
export function rewriteEnglish({ tokens, protectedPieces }: Reading, keepsNumerals = false): string | undefined {
  const pieces = [...protectedPieces]
  const question = tokens.map(({ text }) => text).join(' ')
  if (ABOUT_WORDING.test(question)) return undefined
  if (ABOUT_UNQUOTED.test(question) && !pieces.some((piece) => QUOTED.test(piece))) return undefined
  if (comparesWordings(tokens)) return undefined
  const namesKind = tokens.some(({ text }) => NAMED_KINDS.test(text))
  const words = tokens.map((token, place) => wordOf(token, { tokens, place, pieces, keepsNumerals, namesKind }))
  const one = (namesKind ? words : joinUnits(words, pieces)).join(' ')
  const form = settled(one, (text) => restored(text, pieces))
  return restored(form, MENTION.test(form) ? pieces.map(withStraightMarks) : pieces)
}

/** Replaces the marks of a quotation; in code they are part of the question. */
function withStraightMarks(piece: string): string {
  return piece.replace(/^“(.*)”$/su, '"$1"').replace(/^‘(.*)’$/su, "'$1'")
}

/** Tests for two spellings of one word, as in `Replace colour with color`: the text is about the difference. */
function comparesWordings(tokens: readonly Token[]): boolean {
  const wordings = new Map<string, string>()
  for (const { kind, text } of tokens) {
    if (kind !== 'word') continue
    const lower = text.toLowerCase()
    const spelled = spelling(lower)
    if ((wordings.get(spelled) ?? lower) !== lower) return true
    wordings.set(spelled, lower)
  }
  return false
}

interface Place {
  readonly tokens: readonly Token[]
  readonly place: number
  readonly pieces: string[]
  readonly keepsNumerals: boolean
  readonly namesKind: boolean
}

/** Returns a token as rules see it: a word in lower case, or a placeholder for a protected piece. */
function wordOf({ kind, text }: Token, where: Place): string {
  if (kind === 'mark') return text
  const { tokens, place, pieces, keepsNumerals, namesKind } = where
  if (kind === 'protected') {
    const piece = pieces[placeholderIndex(text) ?? 0] ?? ''
    if (namesKind) return text
    const time = TIME.exec(piece)
    if (time !== null) return protectedIn(pieces, `${time[1]}${time[2]?.toLowerCase()}m`)
    return THOUSANDS.test(piece) ? protectedIn(pieces, piece.replaceAll(',', '')) : text
  }
  if (/^i$/i.test(text)) {
    const previous = tokens[place - 1]?.text.toLowerCase() ?? ''
    const [before, after] = [SLIPS.get(previous) ?? previous, tokens[place + 1]?.text ?? '']
    return BEFORE_I.test(before) || AFTER_I.test(after) ? 'i' : protectedIn(pieces, text)
  }
  const lower = text.toLowerCase()
  const startsSentence = place === 0 || STARTS_SENTENCE.test(tokens[place - 1]?.text ?? '')
  if (namesKind && !startsSentence) return LOWER.test(text) ? text : protectedIn(pieces, text)
  if (isPlain(text, tokens[place - 1])) {
    const plain = contraction(lower, tokens[place - 1]?.text, tokens[place + 1]?.text) ?? spelling(lower)
    const number = keepsNumerals || !isCount(tokens, place) ? undefined : NUMBER_WORDS.get(plain)
    return number === undefined ? plain : protectedIn(pieces, number)
  }
  return text.endsWith("'s") ? `${protectedIn(pieces, text.slice(0, -2))}'s` : protectedIn(pieces, text)
}

/** Expands a contraction; behind a preposition it is a quoted word: `grep for can't`. `who's left` may be `has`. */
function contraction(word: string, before = '', after = ''): string | undefined {
  if (word.endsWith("'d")) return LIKES.test(after) ? `${word.slice(0, -2)} would` : undefined
  if (PREPOSITION.test(before) || (word.endsWith("'s") && !BEHIND_IS.test(after))) return undefined
  return CONTRACTIONS.get(word)
}

/** Returns the canonical spelling of a lower-case word, typing errors included. */
function spelling(word: string): string {
  return SPELLINGS.get(word) ?? SLIPS.get(word) ?? americanised(word)
}

/**
 * Americanises `-ise` to `-ize` and `-our` to `-or`: no two words of six letters and more become one. Compounds may be
 * identifiers.
 */
function americanised(word: string): string {
  if (word.length < LONG || word.includes('-')) return word
  return word.replace(/(?<!^pr)is(e|ed|es|er|ers|ing|ation|ations)$/, 'iz$1').replace(/(?<!^lab)our(s?)$/, 'or$1')
}

/**
 * Tests that a word may lose its case: it is no other word in lower case, or begins a sentence and is no name there.
 */
function isPlain(text: string, before: Token | undefined): boolean {
  if (text === 'A') return before === undefined || STARTS_SENTENCE.test(before.text)
  if (text.length === 1) return text === 'a'
  if (LOWER.test(text) || ACRONYMS.has(text) || BRANDS.has(text) || /^I'(?:m|ve|ll|d)$/.test(text)) return true
  const [bare = ''] = text.split("'")
  if (!CAPITALISED.test(text)) return false
  const isFirst = before === undefined || STARTS_SENTENCE.test(before.text)
  const lower = bare.toLowerCase()
  return NAMES.has(bare) || (isFirst && [SLIPS.get(lower) ?? lower, text.toLowerCase()].some(isStarter))
}

function protectedIn(pieces: string[], text: string): string {
  pieces.push(text)
  return placeholderOf(text, pieces.length - 1)
}

/** Joins numbers with their units: `5 km` becomes `5km`, `15 percent` `15%`, `9 PM` `9pm`. */
function joinUnits(words: readonly string[], pieces: string[]): string[] {
  const joined: string[] = []
  const pieceOf = (word: string | undefined) => pieces[placeholderIndex(word) ?? -1]
  for (const word of words) {
    const number = pieceOf(joined.at(-1))
    const unit = unitOf(pieceOf(word) ?? word)
    if (number !== undefined && unit !== undefined && PLAIN_NUMBER.test(number))
      joined[joined.length - 1] = protectedIn(pieces, number + unit)
    else joined.push(word)
  }
  return joined
}

function unitOf(word: string): string | undefined {
  if (word === 'percent') return '%'
  if (/^[ap]m$/i.test(word)) return word.toLowerCase()
  return UNITS.has(word) ? word : undefined
}

const MOST_ROUNDS = 8
const LONG = 6

/** Applies all rules until none changes the text. */
function settled(text: string, restore: (text: string) => string): string {
  let form = text
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const before = form
    form = framed(withoutClosingMark(withoutCourtesies(withoutClosingMark(form))), restore)
    if (form === before) break
  }
  return form
}

function restored(form: string, pieces: readonly string[]): string {
  return form.replace(ANY_PLACEHOLDER, (placeholder) => pieces[placeholderIndex(placeholder) ?? 0] ?? '')
}
