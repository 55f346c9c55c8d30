/** Converts texts into vectors whose cosine measures similarity. */
export interface Embedder {
  /** Multiple of four: missing dimensions are filled with zeros, which do not change a cosine. */
  readonly dimensions: number
  /**
   * Returns a unit vector as integers: each component times `VECTOR_SCALE`, rounded. Rejects with `EmbedderFault` on
   * failure or time-out.
   */
  embed(text: string, signal: AbortSignal): Int8Array | Promise<Int8Array>
  /** Closes connections. */
  close?(): Promise<void>
}

/** Stored value of a component of 1. */
export const VECTOR_SCALE = 127

const REASONS = [
  /** Too many texts are waiting. */
  'embedder-busy',
  /** The circuit breaker of its endpoint is open. */
  'embedder-gone',
  /** Beyond the time that a request waits. */
  'embedder-late',
  /** It replied with an error, or without a valid vector. */
  'embedder-fault',
  /** It rejected this text. */
  'embedder-refused',
] as const

/** Reason of a missing vector, as in the trace. */
export type EmbedderFaultReason = (typeof REASONS)[number]

/** Failure to embed a text: the request continues without the semantic tier. */
export class EmbedderFault extends Error {
  override name = 'EmbedderFault'
  readonly reason: EmbedderFaultReason

  constructor(reason: EmbedderFaultReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

/** Vector of a text, or the reason why there is none. */
export type Embedding =
  | { readonly vector: Int8Array; readonly reason: undefined }
  | { readonly vector: undefined; readonly reason: EmbedderFaultReason }

/** Calls an embedder; never throws. */
export async function embeddingOf(embedder: Embedder, text: string, signal: AbortSignal): Promise<Embedding> {
  try {
    const vector = embedder.embed(text, signal)
    return { vector: vector instanceof Promise ? await vector : vector, reason: undefined }
  } catch (error) {
    return { vector: undefined, reason: faultReasonOf(error) }
  }
}

/** Returns the reason of an embedder's failure. By value, not by class: a reloaded plugin may have two of that. */
export function faultReasonOf(error: unknown): EmbedderFaultReason {
  const given = error instanceof Error && 'reason' in error ? error.reason : undefined
  return REASONS.find((reason) => reason === given) ?? 'embedder-fault'
}
