import type { MatchText } from './match-text.ts'
import { fold, plainWords } from './words.ts'

const WORD_CHARACTER = /[\p{L}\p{N}]/u

/** Compiles keywords to a test for any of them as whole words, ignoring case and accents. */
export function compileKeywords(keywords: readonly string[]): (text: MatchText) => boolean {
  const tests = keywords.map((keyword) => compileKeyword(fold(keyword).trim()))
  return (text) => tests.some((test) => test(text))
}

function compileKeyword(keyword: string): (text: MatchText) => boolean {
  // Most keywords are in none of the texts: one look-up in the set of words rejects them without a search.
  const [first] = plainWords(keyword)
  const [openStart, openEnd] = [keyword.at(0), keyword.at(-1)].map((edge) => !WORD_CHARACTER.test(edge ?? ''))
  return ({ words, folded }) => {
    if (first !== undefined && !words.has(first)) return false
    for (let at = folded.indexOf(keyword); at !== -1; at = folded.indexOf(keyword, at + 1)) {
      const isStart = openStart || !WORD_CHARACTER.test(folded[at - 1] ?? '')
      if (isStart && (openEnd || !WORD_CHARACTER.test(folded[at + keyword.length] ?? ''))) return true
    }
    return false
  }
}
