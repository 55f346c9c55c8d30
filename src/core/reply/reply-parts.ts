import type { Range } from '../json/scan.ts'

/** A value in a reply that a module may rewrite: its range in the JSON read as latin1. */
export interface ReplyPart extends Range {
  /** `text` is written for the reader, `input` are the arguments of a tool call that the client is to run. */
  readonly kind: 'text' | 'input'
  /** Names the text or call within the reply: parts of several events with one key continue each other. */
  readonly key: string
  /** Name of the tool; empty for texts. */
  readonly tool: string
}

/** The parts of one event, in their order, and the keys that have no further part. */
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
/** Event behind which no text and no call goes on. */
export const ALL_ENDED: EventParts = { parts: [], ended: 'all' }
