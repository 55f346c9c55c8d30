/** Turns the whole events of a stream into others, portion by portion. What throws ends the rewriting. */
export interface Rewriter {
  /** Takes a portion of whole events. Returns the bytes that may pass on now. */
  take(portion: Buffer): Buffer
  /** The stream has ended. Returns the bytes that are left. */
  finish(): Buffer
  /** Rewrites no more: later portions pass. Returns what is held as it came, the portion at which `take` threw included. */
  giveUp(): Buffer
  /** True once bytes that have passed on differ from those that came. */
  readonly hasChanged: boolean
}
