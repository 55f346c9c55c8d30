import { isJsonObject, type JsonObject } from '../json.ts'

const IMAGE_TOKENS = 85
const WORD = /\S+/gu

/** Cuts text into words with the space before each; they always join to the text. One word is one token. */
export function toWords(text: string): string[] {
  return text.match(/\s*\S+\s*$|\s*\S+|\s+$/gu) ?? []
}

/** Counts the prompt tokens of a request: words of all strings of its messages and tools, 85 for a data URL; at least 1. */
export function countPromptTokens({ messages, tools }: JsonObject): number {
  return Math.max(1, countWords([messages, tools]))
}

/** Counts the words of all strings in a value. */
export function countWords(value: unknown): number {
  if (typeof value === 'string') return value.startsWith('data:') ? IMAGE_TOKENS : (value.match(WORD)?.length ?? 0)
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + countWords(item), 0)
  return isJsonObject(value) ? countWords(Object.values(value)) : 0
}
