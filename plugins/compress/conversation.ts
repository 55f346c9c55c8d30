import { RequestDocument } from 'turnpike/plugin'
import { compactCopy, type Path, preservedRanges } from 'turnpike/plugin/bytes'
import type { EpochView } from './epoch-view.ts'
import { messageTokens } from './message-tokens.ts'
import type { RawMessage } from './raw-message.ts'
import { type Change, type KeyOf, type PreservedIn, Shortener } from './shortener.ts'
import { partsOf } from './tool-results.ts'

/** A message, and what stage A makes of it. */
export interface Taken {
  readonly identity: string
  readonly rawBytes: number
  readonly changes: readonly Change[]
  /** Tokens as the client sent it, and without what was saved. */
  readonly tokensBefore: number
  readonly tokensAfter: number
  /** Texts that tools gave back. */
  readonly results: number
  /** The bytes it was last seen with and those with the changes in them; none without changes. */
  written: { readonly exact: string; readonly bytes: Buffer } | undefined
}

/** What stage B remembers of a conversation. */
interface PressureMemory {
  /** When it was last asked. */
  seenAtMs: number | undefined
  /** Numbers of messages at which its cache was found to be cold. */
  cold: number[]
  view: EpochView | undefined
}

/**
 * DESIGN: one conversation, remembered from call to call.
 *
 *     call 1   m0 m1 m2           all three are worked on
 *     call 2   m0 m1 m2 m3 m4     m3 and m4 are
 *     call 3   m0 m1 x2           taken back to m1, then x2
 *
 * It is a memory of results that are a function of the messages, and nothing else: what another instance or a new process
 * makes of the same messages is the same.
 */
export class Conversation {
  readonly #shortener: Shortener
  readonly #taken: Taken[] = []
  /** What stage B remembers of it. */
  readonly pressure: PressureMemory = { seenAtMs: undefined, cold: [], view: undefined }

  constructor(keyOf?: KeyOf) {
    this.#shortener = new Shortener(keyOf)
  }

  /** About how much memory it takes, in bytes. */
  get bytes(): number {
    return this.#taken.reduce((sum, { rawBytes }) => sum + rawBytes * BYTES_PER_BYTE, 0)
  }

  /** What stage A makes of each message of the conversation as it stands now. */
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

/** Tells what of a message's texts must stay, by paths in the message. */
export function preservedInMessage({ preserved }: RawMessage, index: number): PreservedIn {
  return (path, length) => preservedRanges(preserved, { path: ['messages', index, ...path], length })
}

/** Changes of a message that has this many tokens, with what they come to. */
export function sizesOf(tokensBefore: number, changes: readonly Change[]) {
  const savedTokens = changes.reduce((sum, change) => sum + change.savedTokens, 0)
  return { changes, tokensBefore, tokensAfter: tokensBefore - savedTokens, written: undefined }
}

/** The text is kept in pieces, their index and the bytes that are sent. */
const BYTES_PER_BYTE = 4

/** The message's bytes with its changes spliced in; `undefined` when there are none. */
export function writtenBytes(taken: Taken, raw: RawMessage): Buffer | undefined {
  if (taken.changes.length === 0) return undefined
  if (taken.written?.exact !== raw.exact)
    taken.written = { exact: raw.exact, bytes: compactCopy(splice(raw, taken.changes)) }
  return taken.written.bytes
}

/** The message's bytes with texts replaced; every other byte stays. */
function splice({ bytes }: RawMessage, changes: readonly { path: Path; text: string }[]): Buffer {
  const edits = changes.map(({ path, text }) => ({ op: 'replace' as const, path, value: text }))
  return new RequestDocument(bytes).edited(edits).bytes
}
