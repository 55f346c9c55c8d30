import { VECTOR_SCALE } from '../../embedder.ts'

const MULTIPLE = 4

/** Returns the next multiple of four: scans process four components at a time. */
export function paddedDimensions(dimensions: number): number {
  return Math.ceil(dimensions / MULTIPLE) * MULTIPLE
}

/**
 * Normalises a model's vector to length one, as integers, with zeros up to a multiple of four. `undefined` when it has
 * no direction: all zeros, or a number that is not finite.
 */
export function toUnitBytes(values: ArrayLike<number>): Int8Array<ArrayBuffer> | undefined {
  let sumOfSquares = 0
  for (let i = 0; i < values.length; i++) sumOfSquares += (values[i] ?? 0) ** 2
  if (!Number.isFinite(sumOfSquares) || sumOfSquares === 0) return undefined
  const scale = VECTOR_SCALE / Math.sqrt(sumOfSquares)
  const bytes = new Int8Array(paddedDimensions(values.length))
  for (let i = 0; i < values.length; i++) bytes[i] = Math.round((values[i] ?? 0) * scale)
  return bytes
}
