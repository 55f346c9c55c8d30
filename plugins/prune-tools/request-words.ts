import { unsaid } from './words/needs.ts'
import { splitWords } from './words/split.ts'
import { stem } from './words/stem.ts'
import { directionOf, type WordVectors } from './words/vectors.ts'

/** Words implied by paths, addresses and file types. */
const HINTS: readonly (readonly [sign: RegExp, words: string])[] = [
  [/https?:\/\//, 'url web page fetch'],
  [/\/[\w-]+\/[\w./-]*/, 'file path directory'],
  [/\.pdf\b/i, 'pdf document'],
  [/\.docx?\b/i, 'word document'],
  [/\.(?:xlsx?|csv)\b/i, 'excel spreadsheet workbook'],
  [/\.pptx?\b/i, 'powerpoint presentation slide'],
  [/\.(?:png|jpe?g|gif|webp|svg)\b/i, 'image picture'],
  [/\.(?:mp3|wav|flac)\b/i, 'audio music'],
]
const HINT_WEIGHT = 0.6
const MOST_WEIGHT = 2
/** Most characters of a text's beginning and end: the question is at the end, pasted text in front of it. */
const LONGEST_TEXT = 4000

/** Words of a request. */
export interface RequestWords {
  /** Stems with their counts, at most two. */
  readonly said: ReadonlyMap<string, number>
  readonly unsaid: ReadonlySet<string>
  readonly direction: Float32Array
}

/** Reads the words of a text from its first and last 4,000 characters. */
export function readRequest(text: string, vectors: WordVectors): RequestWords {
  const read = text.length <= 2 * LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT)} ${text.slice(-LONGEST_TEXT)}`
  const words = splitWords(read)
  const said = new Map<string, number>()
  const add = (word: string, weight: number) => {
    const term = stem(word)
    said.set(term, Math.min(MOST_WEIGHT, (said.get(term) ?? 0) + weight))
  }
  for (const word of words) add(word, 1)
  for (const [sign, hint] of HINTS) if (sign.test(read)) for (const word of hint.split(' ')) add(word, HINT_WEIGHT)
  const direction = directionOf(
    vectors,
    words.map((word) => [word, 1] as const),
  )
  return { said, unsaid: unsaid(said), direction }
}
