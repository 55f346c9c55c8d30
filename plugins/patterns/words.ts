import { COMMON_WORDS, STOP_WORDS } from './word-lists.ts'

const MARKS = /\p{M}+/gu
const WORD = /[\p{L}\p{N}]+/gu
const CAMEL_HUMP = /(\p{Ll})(\p{Lu})/gu

/** Returns the text in lower case, without accents, and with single spaces, as keywords are compared. */
export function fold(text: string): string {
  return text.normalize('NFKD').replace(MARKS, '').toLowerCase().replace(/\s+/g, ' ')
}

/** Returns the words of a folded text, unstemmed. */
export function plainWords(folded: string): string[] {
  return folded.match(WORD) ?? []
}

/** Returns the stems of the significant words in order, as examples are compared. */
export function stems(text: string): string[] {
  const words = plainWords(fold(text.replace(CAMEL_HUMP, '$1 $2')))
  return words.filter((word) => word.length > 1 && !STOP_WORDS.has(word)).map(stem)
}

const PLURALS: readonly [RegExp, string][] = [
  [/ies$/, 'y'],
  [/(ss|x|ch|sh)es$/, '$1'],
  [/([^s])s$/, '$1'],
]
const SUFFIXES = [
  ...['ization', 'isation', 'ational', 'fulness', 'iveness', 'ations', 'ation', 'ments', 'ment', 'ness', 'ings', 'ing'],
  ...['edly', 'ed', 'er', 'ers', 'ly', 'ion', 'ions', 'ive', 'able', 'al', 'ize', 'ise', 'ity'],
]
const SHORTEST_STEM = 4

/** Strips English endings. Words of other languages are mostly unchanged, and are found as such. */
function stem(word: string): string {
  if (word.length < SHORTEST_STEM) return word
  const singular = PLURALS.reduce((form, [ending, replacement]) => form.replace(ending, replacement), word)
  const suffix = SUFFIXES.find(
    (ending) => singular.endsWith(ending) && singular.length - ending.length >= SHORTEST_STEM,
  )
  let form = suffix === undefined ? singular : singular.slice(0, -suffix.length)
  if (form.length <= SHORTEST_STEM) return form
  if (form.endsWith('e')) form = form.slice(0, -1)
  return form.replace(/([bcdfghjklmnpqrstvwxz])\1$/, '$1').replace(/y$/, 'i')
}

/** Stems of words that are frequent in requests of every kind, and so carry little information. */
export const COMMON_STEMS: ReadonlySet<string> = new Set([...COMMON_WORDS].map(stem))
