/** A JSON string that the scan knows, recognised in place: no slice, no search for its closing quote. */
export interface Word<Value> {
  readonly name: string
  /** The bytes of the word, quotes included. */
  readonly quoted: Uint8Array
  readonly value: Value
}

/** Words by the first byte behind their opening quote. */
export type WordTable<Value> = readonly (readonly Word<Value>[])[]

const NONE: readonly never[] = []
const BYTE_VALUES = 256

/** Builds the table of the words that `values` has as its keys. They must be ASCII. */
export function createWordTable<Value>(values: Readonly<Record<string, Value>>): WordTable<Value> {
  const table: (readonly Word<Value>[])[] = new Array(BYTE_VALUES).fill(NONE)
  for (const [name, value] of Object.entries(values)) {
    const first = name.charCodeAt(0)
    table[first] = [
      ...(table[first] ?? NONE),
      { name, quoted: Uint8Array.from(Buffer.from(JSON.stringify(name))), value },
    ]
  }
  return table
}

/** The word that begins with a quote at byte `at`; `undefined` when what is there is not written as one of the words. */
export function wordAt<Value>(table: WordTable<Value>, bytes: Buffer, at: number): Word<Value> | undefined {
  const candidates = table[bytes[at + 1] ?? 0]
  if (candidates === undefined) return undefined
  for (let i = 0; i < candidates.length; i++) {
    const word = candidates[i]
    if (word !== undefined && isAt(word.quoted, bytes, at)) return word
  }
  return undefined
}

function isAt(quoted: Uint8Array, bytes: Buffer, at: number): boolean {
  for (let i = 0; i < quoted.length; i++) {
    if (bytes[at + i] !== quoted[i]) return false
  }
  return true
}
