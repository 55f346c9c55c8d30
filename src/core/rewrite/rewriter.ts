/** Rewrites the whole events of a stream, portion by portion. An error ends the rewriting. */
export interface Rewriter {
  /** Takes a portion of whole events. Returns the bytes that may pass on now. */
  take(portion: Buffer): Buffer
  /** Ends the rewriting with the stream. Returns the rest of the bytes. */
  finish(): Buffer
  /** Stops rewriting: later portions pass. Returns the held bytes unchanged, including the portion at which `take` threw. */
  giveUp(): Buffer
  /** True once bytes that have passed on differ from those received. */
  readonly hasChanged: boolean
}
