import { encode } from 'gpt-tokenizer/encoding/o200k_base'

const counts = new Map<string, number>()

/**
 * Counts the tokens of a text in o200k, the tokenizer of all evaluations. Memoised, since texts of a session repeat.
 */
export function countTokens(text: string): number {
  let count = counts.get(text)
  if (count === undefined) {
    count = encode(text, { allowedSpecial: 'all' }).length
    counts.set(text, count)
  }
  return count
}
