import { encode } from 'gpt-tokenizer/encoding/o200k_base'

const counts = new Map<string, number>()

/** Tokens of a text in o200k, the tokenizer that all evaluations count with. Texts of a session come again and again. */
export function countTokens(text: string): number {
  let count = counts.get(text)
  if (count === undefined) {
    count = encode(text, { allowedSpecial: 'all' }).length
    counts.set(text, count)
  }
  return count
}
