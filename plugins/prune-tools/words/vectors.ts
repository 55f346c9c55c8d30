/**
 * DESIGN: `vectors.bin`, word vectors of 64 dimensions of 4 bits.
 *
 *     length of the words (4 bytes, little-endian) │ words, one a line │ 32 bytes for each word: two dimensions a byte
 *
 * A dimension is a whole number from -7 to 7, as a share of the word's largest; it is stored with 8 added.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'

const DIMENSIONS = 64
const BYTES_OF_VECTOR = DIMENSIONS / 2
const BYTES_OF_LENGTH = 4
const MOST = 7
const OFFSET = 8

/** Word vectors. */
export interface WordVectors {
  readonly rows: ReadonlyMap<string, number>
  /** All vectors in a row, `DIMENSIONS` numbers each. */
  readonly values: Int8Array
}

/** Encodes `vectors.bin` for words without line ends and vectors of `DIMENSIONS` numbers. */
export function packVectors(words: readonly string[], vectors: readonly (readonly number[])[]): Buffer {
  const list = Buffer.from(words.join('\n'))
  const length = Buffer.alloc(BYTES_OF_LENGTH)
  length.writeUInt32LE(list.length)
  return Buffer.concat([length, list, ...vectors.map(packVector)])
}

function packVector(vector: readonly number[]): Buffer {
  const largest = Math.max(...vector.map(Math.abs)) || 1
  const steps = vector.map((value) => Math.round((value / largest) * MOST) + OFFSET)
  return Buffer.from(
    Array.from({ length: BYTES_OF_VECTOR }, (_, i) => (steps[2 * i] ?? 0) * 16 + (steps[2 * i + 1] ?? 0)),
  )
}

/** Decodes the output of `packVectors`. */
export function unpackVectors(bytes: Buffer): WordVectors {
  const start = BYTES_OF_LENGTH + bytes.readUInt32LE()
  const words = bytes.toString('utf8', BYTES_OF_LENGTH, start).split('\n')
  const values = new Int8Array(words.length * DIMENSIONS)
  bytes.subarray(start).forEach((byte, i) => {
    values[2 * i] = (byte >> 4) - OFFSET
    values[2 * i + 1] = (byte & 15) - OFFSET
  })
  return { rows: new Map(words.map((word, row) => [word, row])), values }
}

/** Reads the vectors that come with the plugin. Takes some 10 ms: once, at start-up. */
export function loadVectors(): WordVectors {
  return unpackVectors(readFileSync(path.join(import.meta.dirname, 'vectors.bin')))
}

/**
 * Returns the direction of a text: the weighted sum of its words' vectors, of length 1, or zero when no word is known.
 */
export function directionOf({ rows, values }: WordVectors, weights: Iterable<readonly [string, number]>): Float32Array {
  const sum = new Float32Array(DIMENSIONS)
  for (const [word, weight] of weights) {
    const start = (rows.get(word) ?? -1) * DIMENSIONS
    if (start < 0) continue
    const scale = weight / lengthAt(values, start)
    for (let i = 0; i < DIMENSIONS; i++) sum[i] = (sum[i] ?? 0) + (values[start + i] ?? 0) * scale
  }
  const length = Math.hypot(...sum) || 1
  return sum.map((value) => value / length)
}

function lengthAt(values: Int8Array, start: number): number {
  let squares = 0
  for (let i = start; i < start + DIMENSIONS; i++) squares += (values[i] ?? 0) ** 2
  return Math.sqrt(squares) || 1
}

/** Returns the cosine of two directions, from -1 to 1. */
export function similarity(a: Float32Array, b: Float32Array): number {
  let sum = 0
  for (let i = 0; i < DIMENSIONS; i++) sum += (a[i] ?? 0) * (b[i] ?? 0)
  return sum
}
