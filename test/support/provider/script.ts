import type { JsonObject } from '../json.ts'

/** A wait: for a time, then for a promise that the test resolves. It ends at once when the client disconnects. */
export interface Pause {
  delayMs?: number
  until?: Promise<unknown>
}

/** Cut of a body into socket writes. */
export interface Writes {
  /** Sizes in bytes, repeated in a cycle; or `events`: one write for each SSE event. */
  sizes: readonly number[] | 'events'
  /**
   * The wait between two writes. A function is called before every write, with the number of writes done; at 0 the
   * headers have been sent already.
   */
  between?: Pause | ((writesDone: number) => Pause | undefined)
  /** The write with this index (from 0) waits for `until`, and so do all after it. A body without such a write is a mistake of the test. */
  hold?: { readonly index: number; readonly until: Promise<unknown> }
  /** After this many writes the rest is sent in one; keeps a slow drip bounded. Default 2,000. */
  atMost?: number
}

/** Content codings of a scripted reply. The client's `accept-encoding` is ignored. */
export type Encoding = 'gzip' | 'deflate' | 'br' | 'zstd'

/** Delivery of a reply; by default whole and at once. */
export interface Delivery {
  /** Before the status line. */
  before?: Pause
  writes?: Writes
  encoding?: Encoding
  /** Closes the connection without an ending after this many bytes of the (uncompressed) body. */
  cutAfterBytes?: number
}

/** The default reply of the route; on `/v1/messages` with the given parts of the message. */
export interface AnswerScript extends Delivery {
  kind: 'answer'
  /** The whole reply text. Default: built from the last user text. */
  text?: string
  /** All content blocks, instead of `text`. */
  content?: readonly JsonObject[]
  stopReason?: string
  /** Members that replace those of the default `usage`. */
  usage?: JsonObject
  headers?: Readonly<Record<string, string>>
}

/** Any HTTP reply. An object is serialised once; a content type is JSON unless `headers` names one. */
export interface ReplyScript extends Delivery {
  kind: 'reply'
  status?: number
  headers?: Readonly<Record<string, string>>
  body: string | Buffer | JsonObject
}

/** An event stream of exactly these bytes. Leave out the last event to end a stream early but cleanly. */
export interface SseScript extends Delivery {
  kind: 'sse'
  bytes: string | Buffer
  status?: number
  headers?: Readonly<Record<string, string>>
}

/** An error in the provider's shape, e.g. status 529. */
export interface ErrorScript extends Delivery {
  kind: 'error'
  status: number
  /** Default: the provider's type for the status. */
  type?: string
  message?: string
  headers?: Readonly<Record<string, string>>
}

/** The connection breaks before the reply (a TCP reset) or within its header lines. */
export interface BreakScript {
  kind: 'break'
  at: 'before-headers' | 'mid-headers'
  before?: Pause
}

/** Nothing (more) is sent until the client disconnects or the stand-in closes. */
export interface HangScript {
  kind: 'hang'
  at: 'before-headers' | 'after-headers'
}

/** Bytes that are not HTTP, then the end of the connection. */
export interface GarbageScript {
  kind: 'garbage'
  bytes?: string | Buffer
}

/** Behaviour of the stand-in for one request. */
export type Script = AnswerScript | ReplyScript | SseScript | ErrorScript | BreakScript | HangScript | GarbageScript

/** Writes of one byte each with a wait between them; the rest in one write after `atMost` of them. */
export function slowDrip(delayMs: number, atMost = 200): Writes {
  return { sizes: [1], between: { delayMs }, atMost }
}

/** One write per event; the event with this index (from 0) waits for `gate`, and so does all after it. */
export function holdEvent(index: number, gate: Promise<unknown>): Writes {
  return { sizes: 'events', hold: { index, until: gate } }
}
