/** Turns texts into vectors whose cosine tells how alike they are. */
export interface Embedder {
  /** Part of every scope: vectors of different embedders are never compared. Changes whenever vectors do. */
  readonly id: string
  readonly dimensions: number
  /** A unit vector as whole numbers: each component times `VECTOR_SCALE`, rounded. Rejects when it cannot in time. */
  embed(text: string, signal: AbortSignal): Int8Array | Promise<Int8Array>
}

/** What a component of 1 is stored as. */
export const VECTOR_SCALE = 127
