import type { Exchange, Reply } from 'turnpike/plugin'
import { packReply, replyFromStored, type StoredReply, unpackReply } from 'turnpike/plugin/cache'

/** Stored answer: the question, the time, and the reply. */
export interface Answer {
  /** Text of the look-up. */
  readonly text: string
  readonly storedAtMs: number
  readonly reply: StoredReply
}

/** Part of an answer that operators can list. */
export type AnswerHead = Omit<Answer, 'reply'>

const LENGTH_BYTES = 4
/** Upper bound of the head's size: at most 12,000 UTF-16 units, each escaped. */
export const HEAD_BYTES = 80_000

/** Packs an answer: the length of its head, the head as JSON, the reply. */
export function packAnswer({ text, storedAtMs, reply }: Answer): Buffer {
  const head = Buffer.from(JSON.stringify({ text, storedAtMs }))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32LE(head.length)
  return Buffer.concat([length, head, packReply(reply)])
}

/** Unpacks an answer; `undefined` for other bytes. */
export function unpackAnswer(bytes: Buffer): Answer | undefined {
  const head = headOf(bytes)
  const reply = head && unpackReply(bytes.subarray(LENGTH_BYTES + bytes.readUInt32LE()))
  return head && reply && { ...head, reply }
}

/** Reads the head from the first bytes of a packed answer. */
export function headOf(bytes: Buffer): AnswerHead | undefined {
  try {
    const { text, storedAtMs } = JSON.parse(bytes.toString('utf8', LENGTH_BYTES, LENGTH_BYTES + bytes.readUInt32LE()))
    return typeof text === 'string' && typeof storedAtMs === 'number' ? { text, storedAtMs } : undefined
  } catch {
    return undefined
  }
}

/** Returns the reply in the caller's form; `undefined` when it cannot be converted. */
export function replyFor({ dialect, wantsStream }: Exchange, { reply }: Answer): Reply | undefined {
  return replyFromStored(reply, { dialect, stream: wantsStream })
}
