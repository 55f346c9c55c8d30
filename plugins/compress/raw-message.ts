import { hash } from 'node:crypto'
import type { Message, RequestDocument } from 'turnpike/plugin'
import type { PreservedText } from 'turnpike/plugin/bytes'

/** Message of a request as its client wrote it. */
export interface RawMessage {
  readonly bytes: Buffer
  /** Returns the parsed value: the request's own, not to be changed. */
  readonly parse: () => Message
  /** Ranges that must be preserved; paths are those of the request. */
  readonly preserved: readonly PreservedText[]
  /** Equal for messages that differ at most in their prompt-cache marks, which move from call to call. */
  readonly identity: string
  /** Equal for equal bytes. */
  readonly exact: string
}

const MARK_NAME = '"cache_control"'
/**
 * Matches the member of a prompt-cache mark: inside a string its quotes would be escaped. It begins at a comma, or
 * without a blank before it.
 */
const MARK = /(?:,|(?<![\s,]))\s*"cache_control"\s*:\s*(?:\{[^{}]*\}|null)/g

/** Returns the messages of a request, unparsed. */
export function rawMessages(request: RequestDocument, preserved: readonly PreservedText[]): RawMessage[] {
  const inMessages = preserved.filter(({ path }) => path.length === 0 || path[0] === 'messages')
  const byMessage = Map.groupBy(inMessages, ({ path }) => path[1] ?? 'all')
  const ofAll = byMessage.get('all') ?? []
  return request.shape.messages.map(({ start, end }, index) => {
    const bytes = request.bytes.subarray(start, end)
    const own = [...ofAll, ...(byMessage.get(index) ?? [])]
    const ranges = own.length === 0 ? '' : JSON.stringify(own)
    const exact = hash('sha1', bytes)
    const identity = bytes.includes(MARK_NAME) ? hash('sha1', withoutMarks(bytes)) : exact
    const parse = () => request.message(index)
    return { bytes, parse, preserved: own, identity: identity + ranges, exact: exact + ranges }
  })
}

function withoutMarks(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString('latin1').replace(MARK, ''), 'latin1')
}
