/** Beginning of a request, up to some place. */
export interface Prefix {
  /** Estimated. */
  readonly tokens: number
  /** Equal for equal beginnings, without marks. */
  readonly digest: string
}

/** Place of a mark: the last tool, the end of the system's text, or a block of a message. */
export type Place =
  | { readonly kind: 'tools' }
  | { readonly kind: 'system' }
  | {
      readonly kind: 'message'
      readonly index: number
      /** Index of the block; `undefined` for a message of a single string. */
      readonly block: number | undefined
    }

/** Kind of the last message: a person may take longer for the next turn than a tool. */
export type Turn = 'text' | 'result'

/** Parts of a request that decide about marks. */
export interface Outline {
  /** Prefixes that several conversations may share, and that may be marked: the tools, then the system. */
  readonly shared: readonly (Prefix & { readonly place: Place })[]
  /** Number of messages. */
  readonly count: number
  readonly turn: Turn
  /** Number of turns before this one. */
  readonly depth: number
  /** Returns the prefixes that end after so many messages, in ascending order. */
  prefixes(counts: readonly number[]): readonly Prefix[]
  /** Returns the last block of a message that may be marked; `undefined` without one. */
  placeIn(index: number): Place | undefined
}
