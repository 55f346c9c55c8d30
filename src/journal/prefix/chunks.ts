import { crc32 } from 'node:zlib'

/** Characters of a chunk: a change is found to that many. */
export const CHUNK = 16
/** Longest text with chunks, in characters: 128 KB. Of a longer one only the beginning is compared. */
const LONGEST = 128 * 1024

/** Returns a checksum of every 16 characters of a text, the last of which may be shorter. */
export function chunksOf(text: string): Uint32Array {
  const length = Math.min(text.length, LONGEST)
  const chunks = new Uint32Array(Math.ceil(length / CHUNK))
  for (let i = 0; i < chunks.length; i++) chunks[i] = crc32(text.slice(i * CHUNK, (i + 1) * CHUNK))
  return chunks
}

/** Returns the character at which the first chunk that differs begins. */
export function firstChangedChunk(before: Uint32Array, after: Uint32Array): number {
  let i = 0
  while (i < before.length && i < after.length && before[i] === after[i]) i++
  return i * CHUNK
}
