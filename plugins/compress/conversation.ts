import { RequestDocument } from 'turnpike/plugin'
import { compactCopy, type Path, preservedRanges } from 'turnpike/plugin/bytes'
import type { EpochView } from './epoch-view.ts'
import { messageTokens } from './message-tokens.ts'
import type { RawMessage } from './raw-message.ts'
import { type Change, type KeyOf, type PreservedIn, Shortener } from './shortener.ts'
import { partsOf } from './tool-results.ts'

/** Message with the changes of stage A. */
export interface Taken {
  readonly identity: string
  readonly rawBytes: number
  readonly changes: readonly Change[]
  /** Tokens as the client sent it, and after compression. */
  readonly tokensBefore: number
  readonly tokensAfter: number
  /** Texts of tool results. */
  readonly results: number
  /** Bytes at the last call, and the bytes with the changes applied; undefined without changes. */
  written: { readonly exact: string; readonly bytes: Buffer } | undefined
}

/** State of stage B for a conversation. */
interface PressureMemory {
  /** Time of the last call. */
  seenAtMs: number | undefined
  /** Message counts at which the provider's cache was cold. */
  cold: number[]
  view: EpochView | undefined
}

/**
 * DESIGN: one conversation, memoised from call to call.
 *
 *     call 1   m0 m1 m2           all three are worked on
 *     call 2   m0 m1 m2 m3 m4     m3 and m4 are
 *     call 3   m0 m1 x2           taken back to m1, then x2
 *
 * It memoises results that are a pure function of the messages: what another instance or a new process
 * makes of the same messages is the same.
 */
export class Conversation {
  readonly #shortener: Shortener
  readonly #taken: Taken[] = []
  /** State of stage B. */
  readonly pressure: PressureMemory = { seenAtMs: undefined, cold: [], view: undefined }

  constructor(keyOf?: KeyOf) {
    this.#shortener = new Shortener(keyOf)
  }

  /** Approximate memory in bytes. */
  get bytes(): number {
    return this.#taken.reduce((sum, { rawBytes }) => sum + rawBytes * BYTES_PER_BYTE, 0)
  }

  /** Applies stage A to each message of the current conversation. */
  take(messages: readonly RawMessage[]): readonly Taken[] {
    const known = this.#knownPrefix(messages)
    this.#shortener.cutBack(known)
    this.#taken.length = known
    for (const raw of messages.slice(known)) this.#taken.push(this.#next(raw))
    return this.#taken
  }

  #knownPrefix(messages: readonly RawMessage[]): number {
    const first = messages.findIndex(({ identity }, index) => this.#taken[index]?.identity !== identity)
    return first === -1 ? messages.length : first
  }

  #next(raw: RawMessage): Taken {
    const message = raw.parse()
    const { length: index } = this.#taken
    const changes = this.#shortener.next(message, { preservedIn: preservedInMessage(raw, index) })
    const results = partsOf(message).reduce((sum, part) => sum + (part.kind === 'result' ? part.texts.length : 0), 0)
    const { identity, bytes } = raw
    return { identity, rawBytes: bytes.length, results, ...sizesOf(messageTokens(message), changes) }
  }
}

/** Returns the ranges of a message's texts that must be preserved, by paths in the message. */
export function preservedInMessage({ preserved }: RawMessage, index: number): PreservedIn {
  return (path, length) => preservedRanges(preserved, { path: ['messages', index, ...path], length })
}

/** Returns the sizes of a message before and after its changes. */
export function sizesOf(tokensBefore: number, changes: readonly Change[]) {
  const savedTokens = changes.reduce((sum, change) => sum + change.savedTokens, 0)
  return { changes, tokensBefore, tokensAfter: tokensBefore - savedTokens, written: undefined }
}

/** Estimated memory per byte of text: segments, index entries and the compressed bytes. */
const BYTES_PER_BYTE = 4

/** Returns the message's bytes with its changes spliced in; `undefined` when there are none. */
export function writtenBytes(taken: Taken, raw: RawMessage): Buffer | undefined {
  if (taken.changes.length === 0) return undefined
  if (taken.written?.exact !== raw.exact)
    taken.written = { exact: raw.exact, bytes: compactCopy(splice(raw, taken.changes)) }
  return taken.written.bytes
}

/** Replaces texts in the message's bytes; every other byte is unchanged. */
function splice({ bytes }: RawMessage, changes: readonly { path: Path; text: string }[]): Buffer {
  const edits = changes.map(({ path, text }) => ({ op: 'replace' as const, path, value: text }))
  return new RequestDocument(bytes).edited(edits).bytes
}
