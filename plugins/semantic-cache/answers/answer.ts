import type { Exchange, Reply } from 'turnpike/plugin'
import { packReply, replyFromStored, type StoredReply, unpackReply } from 'turnpike/plugin/cache'

/** An answer as it is kept: what was asked, when it was answered, and the reply. */
export interface Answer {
  /** As it is looked up by. */
  readonly text: string
  readonly storedAtMs: number
  readonly reply: StoredReply
}

/** What operators are shown of an answer. */
export type AnswerHead = Omit<Answer, 'reply'>

const LENGTH_BYTES = 4
/** Whatever the text, it is within so many first bytes: at most 12,000 UTF-16 units, each escaped. */
export const HEAD_BYTES = 80_000

/** Packs an answer: the length of its head, the head as JSON, the reply. */
export function packAnswer({ text, storedAtMs, reply }: Answer): Buffer {
  const head = Buffer.from(JSON.stringify({ text, storedAtMs }))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32LE(head.length)
  return Buffer.concat([length, head, packReply(reply)])
}

/** The answer that was packed; `undefined` for anything else. */
export function unpackAnswer(bytes: Buffer): Answer | undefined {
  const head = headOf(bytes)
  const reply = head && unpackReply(bytes.subarray(LENGTH_BYTES + bytes.readUInt32LE()))
  return head && reply && { ...head, reply }
}

/** What the first bytes of a packed answer tell. */
export function headOf(bytes: Buffer): AnswerHead | undefined {
  try {
    const { text, storedAtMs } = JSON.parse(bytes.toString('utf8', LENGTH_BYTES, LENGTH_BYTES + bytes.readUInt32LE()))
    return typeof text === 'string' && typeof storedAtMs === 'number' ? { text, storedAtMs } : undefined
  } catch {
    return undefined
  }
}

/** The reply in the shape that the caller wants; `undefined` when it has no such shape. */
export function replyFor({ dialect, wantsStream }: Exchange, { reply }: Answer): Reply | undefined {
  return replyFromStored(reply, { dialect, stream: wantsStream })
}
