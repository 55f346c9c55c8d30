import type { Range } from '../json/scan.ts'

/** A value in a reply that a plugin may rewrite: its range in the JSON read as latin1. */
export interface ReplyPart extends Range {
  /**
   * `text` is for the reader, `input` are the arguments of a tool call that the client runs, `free_input` is the text that a
   * custom tool gets instead, `citation` is a text of the request that the model quotes, `reasoning` is unsigned text of its
   * thinking.
   */
  readonly kind: 'text' | 'input' | 'free_input' | 'citation' | 'reasoning'
  /** Names the text or call within the reply: parts of several events with one key are consecutive. */
  readonly key: string
  /** Name of the tool; empty for texts. */
  readonly tool: string
}

/** The parts of one event, in order, and the keys that have no further part. */
export interface EventParts {
  readonly parts: readonly ReplyPart[]
  readonly ended: readonly string[] | 'all'
}

/** Finds the parts of one stream, event by event. Throws `ScanError` for data that is no JSON. */
export interface PartReader {
  /** `data` is the event's data read as latin1. */
  read(name: string, data: string): EventParts
}

/** Event without parts that ends none. */
export const NO_PARTS: EventParts = { parts: [], ended: [] }
/** Event after which no text and no call continues. */
export const ALL_ENDED: EventParts = { parts: [], ended: 'all' }
