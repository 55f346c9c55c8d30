/**
 * DESIGN: the list of messages by which a conversation without a name is known.
 *
 * Two requests of one conversation begin with the same bytes, but for two things that clients change between turns: system
 * messages (a date, a working directory) and marks for the provider's prompt cache, which move on with the last message.
 * Both are left out. The opening, all messages before the first answer, is compared by its texts alone, since clients
 * write a marked text as a block and an unmarked one as a string.
 *
 * Cost: the bytes are read once by a native search and copied only where there are marks; no message is parsed.
 */
import { hash } from 'node:crypto'
import { nextElement, skipSpace, skipValue } from '../../json/scan-value.ts'
import { LargeDigest } from '../../large-digest.ts'
import type { RequestDocument } from '../request.ts'
import { checksumOf } from './list-checksum.ts'

/** Messages of a request, for comparison. */
export interface MessageList {
  /** Digest of the texts before the first answer. */
  readonly opening: string
  /** All messages as the client wrote them, without leading system messages and marks for the prompt cache. */
  readonly bytes: Buffer
  /** Checksum of `bytes`. */
  readonly checksum: number
}

const CHECKSUM = Symbol('checksum of the messages')
const OPENING = Symbol('opening of the conversation')
/** Most messages of an opening that are read. */
const MOST_OPENING = 16
/** Bytes in which a message's role is looked for. */
const HEAD_BYTES = 160
const TAIL_BYTES = 40
const FIRST_ROLE = /^\{\s*(?:"type"\s*:\s*"message"\s*,\s*)?"role"\s*:\s*"(\w+)"/
const LAST_ROLE = /"role"\s*:\s*"(\w+)"\s*\}$/
const ANY_ROLE = /"role"\s*:\s*"(\w+)"/
const MARK = '"cache_control"'
const COMMA = 0x2c
const QUOTE = 0x22
const BACKSLASH = 0x5c
const SHORT_TOKEN = 20
/** Names and words that are the form of a message, not its text. */
const FORM = new Set(
  [
    'role',
    'user',
    'type',
    'content',
    'message',
    'text',
    'input_text',
    'cache_control',
    'ephemeral',
    'ttl',
    '5m',
    '1h',
  ].map((word) => `"${word}"`),
)

/** Returns the messages of a request in any dialect; `undefined` when it has none before the first answer. */
export function messageListOf(document: RequestDocument): MessageList | undefined {
  const elements = document.shape.fields.has('messages') ? messagesOf(document) : inputItems(document)
  const first = elements.findIndex((element) => !isSystem(roleOf(element)))
  if (first < 0) return undefined
  const answer = elements.findIndex((element, index) => index > first && !isAsking(roleOf(element)))
  const opening = elements.slice(first, answer < 0 ? undefined : answer)
  const all = document.raw('messages') ?? document.raw('input')
  const [start] = opening
  if (all === undefined || start === undefined) return undefined
  const marked = all.subarray(start.byteOffset - all.byteOffset, endOf(all))
  const bytes = document.shape.cacheMarks === 'none' ? marked : withoutMarks(marked)
  return {
    opening: document.memo(OPENING, () => digestOf(opening)),
    bytes,
    checksum: document.memo(CHECKSUM, () => checksumOf(bytes)),
  }
}

function messagesOf(document: RequestDocument): Buffer[] {
  const { messages } = document.shape
  return messages.slice(0, MOST_OPENING).map(({ start, end }) => document.bytes.subarray(start, end))
}

/** Returns the first items of a Responses request's input; a text is one item. */
function inputItems(document: RequestDocument): Buffer[] {
  const raw = document.raw('input')
  if (raw === undefined) return []
  const text = raw.toString('latin1')
  if (text.charAt(0) !== '[') return [raw]
  const items: Buffer[] = []
  let at = skipSpace(text, 1)
  if (text.charAt(at) === ']') return items
  while (at > 0 && items.length < MOST_OPENING) {
    const end = skipValue(text, at, 1)
    items.push(raw.subarray(at, end))
    at = nextElement(text, end)
  }
  return items
}

/** Returns a message's role; '' for an item without one. */
function roleOf(element: Buffer): string {
  const head = element.toString('latin1', 0, Math.min(HEAD_BYTES, element.length))
  const tail = () => LAST_ROLE.exec(element.toString('latin1', Math.max(0, element.length - TAIL_BYTES)))
  return (FIRST_ROLE.exec(head) ?? tail() ?? ANY_ROLE.exec(head))?.[1] ?? (head.startsWith('"') ? 'user' : '')
}

function isSystem(role: string): boolean {
  return role === 'system' || role === 'developer'
}

function isAsking(role: string): boolean {
  return role === 'user' || isSystem(role)
}

/** Returns the offset after the last element of an array, or after a text. */
function endOf(all: Buffer): number {
  const text = all.toString('latin1', Math.max(0, all.length - TAIL_BYTES))
  return all.length - (/\s*\]$/.exec(text)?.[0].length ?? 0)
}

/** Texts are put together here, up to its size, and hashed at once. */
const SCRATCH = Buffer.allocUnsafeSlow(16 * 1024)
const NEWLINE = 0x0a
/** All processes have the same: who forges a digest mixes up own conversations. */
const EVERYBODYS_KEY = hash('sha256', 'turnpike openings of conversations', 'buffer')

/** Digests the strings of messages, each with a newline; a message may have tens of megabytes. */
function digestOf(opening: readonly Buffer[]): string {
  let large: LargeDigest | undefined
  let end = 0
  for (const [element, from, to] of textsOf(opening)) {
    if (end + to - from >= SCRATCH.length) {
      large ??= new LargeDigest(EVERYBODYS_KEY)
      large.add(SCRATCH.subarray(0, end))
      end = 0
      // A text that has no room alone is not copied.
      if (to - from >= SCRATCH.length) large.add(element.subarray(from, to))
    }
    if (to - from < SCRATCH.length) end += element.copy(SCRATCH, end, from, to)
    SCRATCH[end++] = NEWLINE
  }
  const last = SCRATCH.subarray(0, end)
  return large === undefined ? hash('sha256', last, 'base64url') : large.add(last).end()
}

/** Yields the strings of messages that are not of the system, as JSON, without those of a message's form. */
function* textsOf(opening: readonly Buffer[]): Generator<readonly [element: Buffer, from: number, to: number]> {
  for (const element of opening) {
    if (isSystem(roleOf(element))) continue
    for (let at = element.indexOf(QUOTE); at >= 0; ) {
      const end = endOfString(element, at)
      const isForm = end - at <= SHORT_TOKEN && FORM.has(element.toString('latin1', at, end))
      if (!isForm) yield [element, at, end]
      at = element.indexOf(QUOTE, end)
    }
  }
}

/** Returns the offset after the string that begins at `start`. */
function endOfString(json: Buffer, start: number): number {
  for (let at = start; ; ) {
    at = json.indexOf(QUOTE, at + 1)
    if (at < 0) return json.length
    let first = at
    while (json[first - 1] === BACKSLASH) first--
    // An even number of backslashes escape each other.
    if ((at - first) % 2 === 0) return at + 1
  }
}

/** Returns the bytes without members `cache_control` and one comma beside each. */
function withoutMarks(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1')
  const kept: Buffer[] = []
  let from = 0
  for (let at = text.indexOf(MARK); at >= 0; at = text.indexOf(MARK, at + MARK.length)) {
    const colon = skipSpace(text, at + MARK.length)
    if (text.charAt(colon) !== ':') continue
    let start = skipBack(bytes, at)
    let end = skipValue(text, skipSpace(text, colon + 1), 1)
    if (bytes[start - 1] === COMMA) start--
    else {
      start = at
      const next = skipSpace(text, end)
      if (bytes[next] === COMMA) end = next + 1
    }
    kept.push(bytes.subarray(from, start))
    from = end
  }
  return Buffer.concat([...kept, bytes.subarray(from)])
}

/** Returns the offset after the last byte before `at` that is no white space. */
function skipBack(bytes: Buffer, at: number): number {
  let start = at
  while (start > 0 && (bytes[start - 1] ?? 0) <= 0x20) start--
  return start
}
