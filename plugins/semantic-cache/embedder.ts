/** Turns texts into vectors whose cosine tells how alike they are. */
export interface Embedder {
  /** A multiple of four: what a model lacks to it is filled with zeros, which no cosine feels. */
  readonly dimensions: number
  /**
   * A unit vector as whole numbers: each component times `VECTOR_SCALE`, rounded. Rejects with `EmbedderFault` when it
   * cannot in time.
   */
  embed(text: string, signal: AbortSignal): Int8Array | Promise<Int8Array>
  /** Ends connections. */
  close?(): Promise<void>
}

/** What a component of 1 is stored as. */
export const VECTOR_SCALE = 127

const REASONS = [
  /** Too many texts wait. */
  'embedder-busy',
  /** Its endpoint has failed so often that it is left alone. */
  'embedder-gone',
  /** Not within the time that a request waits. */
  'embedder-late',
  /** It answered with an error, or with what is no vector. */
  'embedder-fault',
  /** It does not take this text. */
  'embedder-refused',
] as const

/** Why there is no vector, as the trace says it. */
export type EmbedderFaultReason = (typeof REASONS)[number]

/** An embedder has no vector for a text: the request goes on without the semantic tier. */
export class EmbedderFault extends Error {
  override name = 'EmbedderFault'
  readonly reason: EmbedderFaultReason

  constructor(reason: EmbedderFaultReason, message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

/** A text's vector, or why there is none. */
export type Embedding =
  | { readonly vector: Int8Array; readonly reason: undefined }
  | { readonly vector: undefined; readonly reason: EmbedderFaultReason }

/** Asks an embedder, whatever becomes of it: never throws. */
export async function embeddingOf(embedder: Embedder, text: string, signal: AbortSignal): Promise<Embedding> {
  try {
    const vector = embedder.embed(text, signal)
    return { vector: vector instanceof Promise ? await vector : vector, reason: undefined }
  } catch (error) {
    return { vector: undefined, reason: faultReasonOf(error) }
  }
}

/**
 * Why an embedder has failed. By the value, not by the class: when a plugin is loaded anew there may be two of that.
 */
export function faultReasonOf(error: unknown): EmbedderFaultReason {
  const given = error instanceof Error && 'reason' in error ? error.reason : undefined
  return REASONS.find((reason) => reason === given) ?? 'embedder-fault'
}
