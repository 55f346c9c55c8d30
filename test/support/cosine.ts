import { VECTOR_SCALE } from '../../plugins/semantic-cache/embedder.ts'

const SCALE_SQUARED = VECTOR_SCALE * VECTOR_SCALE

/** Returns the cosine of two unit vectors of the same embedder, between -1 and 1, within rounding. */
export function cosineOf(one: Int8Array, other: Int8Array): number {
  let dot = 0
  for (let i = 0; i < one.length; i++) dot += (one[i] ?? 0) * (other[i] ?? 0)
  return dot / SCALE_SQUARED
}
