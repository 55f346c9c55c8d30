/**
 * Known words, recognised in place: the bytes are compared with those of the words that begin alike, so a known key
 * costs neither a slice nor a search for its closing quote.
 */

/** A JSON string that the scan knows. */
interface Word<Value> {
  /** The bytes of the word, quotes included. A plain array: V8 reads it faster than a typed one of this size. */
  readonly quoted: readonly number[]
  readonly value: Value
}

/** Words by the first byte after their opening quote. */
type WordTable<Value> = readonly (readonly Word<Value>[])[]

const BYTE_VALUES = 256

/** Builds the table of the words that are the keys of `values`: non-empty ASCII without quotes and backslashes. */
export function createWordTable<Value>(values: Readonly<Record<string, Value>>): WordTable<Value> {
  const table: Word<Value>[][] = Array.from({ length: BYTE_VALUES }, () => [])
  for (const [name, value] of Object.entries(values)) {
    table[name.charCodeAt(0)]?.push({ quoted: [...Buffer.from(`"${name}"`)], value })
  }
  return table
}

/** Returns the word whose opening quote is at byte `at`; `undefined` when the bytes there spell none of the words. */
export function wordAt<Value>(table: WordTable<Value>, bytes: Buffer, at: number): Word<Value> | undefined {
  const candidates = table[bytes[at + 1] ?? 0]
  if (candidates === undefined) return undefined
  for (let i = 0; i < candidates.length; i++) {
    const word = candidates[i]
    if (word !== undefined && isAt(word.quoted, bytes, at)) return word
  }
  return undefined
}

function isAt(quoted: readonly number[], bytes: Buffer, at: number): boolean {
  for (let i = 0; i < quoted.length; i++) {
    if (bytes[at + i] !== quoted[i]) return false
  }
  return true
}
