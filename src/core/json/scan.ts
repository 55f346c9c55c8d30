/**
 * DESIGN: one pass over a request body, and the byte ranges that it gives.
 *
 * Purpose: the hot path neither parses nor copies a body. `scanRequest` finds its top-level fields and the elements of
 * `messages`, and returns whether those are certainly valid; `children` finds the parts of any value on demand.
 *
 * Guarantees: the whole body is walked, so a body that is not JSON never passes as one. Of a body that passes, outside data
 * (see `scan-members.ts`), the decoded names of each object are unique and no known name has another case. `plain` is true
 * only for a body whose `messages`, `system` and `tools` the schema accepts.
 * Limits: see `scan-value.ts`.
 */
import { isUtf8 } from 'node:buffer'
import { GatewayError } from '../errors.ts'
import { BodyFault } from './body-fault.ts'
import { firstInvalidUtf8 } from './json-error.ts'
import { pathAt } from './json-path.ts'
import { FIELD_NAMES, hasFreeNames } from './known-names.ts'
import { ScanError, unexpected } from './scan-error.ts'
import { assertCase, CACHE_CONTROL, type Cursor, decodeKey, duplicate, ESCAPED, skipName } from './scan-members.ts'
import { walkFreeValue, walkMessages, walkSystem, walkTools, walkValue } from './scan-message.ts'
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  nextElement,
  nextMember,
  OPEN_BRACE,
  OPEN_BRACKET,
  type Range,
  skipColon,
  skipKey,
  skipSpace,
  skipValue,
} from './scan-value.ts'
import { createWordTable, wordAt } from './scan-words.ts'

export { type Range, ScanError }

/** The value of one member (with its decoded `key`) or of one element (without), in byte offsets. */
export interface Child extends Range {
  key?: string
}

/** Places of a request body's parts. All offsets are bytes from the start of the body. */
export interface RequestShape {
  /** Top-level fields by decoded name. */
  readonly fields: ReadonlyMap<string, Range>
  /** Elements of `messages`; empty when that is absent or no array. */
  readonly messages: readonly Range[]
  /**
   * True when `messages`, `system` and `tools` are certainly valid and no name at the top is escaped; then only
   * the scalar fields are left to check. False proves nothing: parse the body and apply the schema.
   */
  readonly plain: boolean
  /**
   * True when `messages`, `system` and `tools` certainly have nothing but text, tools of the client and their calls: no
   * media, no files, no tools of the provider. False proves nothing.
   */
  readonly isText: boolean
  /** Longest lifetime of a mark for the prompt cache in the body, outside data. */
  readonly cacheMarks: 'none' | '5m' | '1h'
  /** Memoised results about the bytes, by a key of the caller's own: see `RequestDocument.memo`. */
  memos: Map<symbol, unknown> | undefined
}

const COMMON_NAMES = [
  ...['model', 'max_tokens', 'messages', 'system', 'tools', 'tool_choice', 'stream', 'metadata', 'thinking'],
  ...['temperature', 'top_p', 'top_k', 'stop_sequences', 'output_config', 'context_management', 'service_tier'],
]
/** Names that most bodies have: recognised in place, they cost no decoding and no hash. */
const NAMES = createWordTable(Object.fromEntries(COMMON_NAMES.map((name) => [name, name])))
/** Most fields of a request: all APIs and servers together name fewer than half of it. */
const MOST_FIELDS = 256

/**
 * Returns the ranges of the values in the object or array at byte `start` of `text` (a latin1 reading of the document),
 * in document order, repeated keys included. Throws `ScanError` when no well-formed object or array begins there.
 * Hazard: V8 makes a key of 13 characters or more a view that keeps all of `text` alive.
 */
export function children(text: string, start: number): Child[] {
  const open = text.charCodeAt(start)
  if (open === OPEN_BRACE) return members(text, start)
  if (open === OPEN_BRACKET) return elements(text, start)
  throw unexpected(text, start, 'an object or an array')
}

function members(text: string, start: number): Child[] {
  const found: Child[] = []
  let at = skipSpace(text, start + 1)
  if (text.charCodeAt(at) === CLOSE_BRACE) return found
  while (at > 0) {
    const keyEnd = skipKey(text, at)
    const valueStart = skipColon(text, keyEnd)
    const end = skipValue(text, valueStart, 1)
    found.push({ start: valueStart, end, key: decodeKey(text, at, keyEnd) })
    at = nextMember(text, end)
  }
  return found
}

/**
 * Returns the range of the value of the first member `name` (ASCII) in the object at byte `start`; the rest is not
 * read. Throws `ScanError` for a structural error before it.
 */
export function findMember(text: string, start: number, name: string): Range | undefined {
  const quoted = `"${name}"`
  let at = skipSpace(text, start + 1)
  if (text.charCodeAt(at) === CLOSE_BRACE) return undefined
  while (at > 0) {
    const isFound = text.startsWith(quoted, at)
    const valueStart = skipColon(text, isFound ? at + quoted.length : skipKey(text, at))
    const end = skipValue(text, valueStart, 1)
    if (isFound) return { start: valueStart, end }
    at = nextMember(text, end)
  }
  return undefined
}

function elements(text: string, start: number): Child[] {
  const found: Child[] = []
  let at = skipSpace(text, start + 1)
  if (text.charCodeAt(at) === CLOSE_BRACKET) return found
  while (at > 0) {
    const end = skipValue(text, at, 1)
    found.push({ start: at, end })
    at = nextElement(text, end)
  }
  return found
}

/** Parses a key, quotes included, which begins at byte `position`. */
function parseKey(json: Buffer, position: number): string {
  try {
    return JSON.parse(json.toString())
  } catch {
    throw new ScanError('a key with a wrong escape or a raw control character', position)
  }
}

/**
 * Returns the byte ranges of a request body's parts, and whether they are certainly valid, from one pass over all of it.
 * Throws `ScanError` when the body is not one JSON object in UTF-8, `invalid_request` with the path of a member or value
 * when two readers could understand the body differently, or when it has too many.
 */
export function scanRequest(bytes: Buffer): RequestShape {
  if (!isUtf8(bytes)) throw new ScanError('a character is not UTF-8', firstInvalidUtf8(bytes))
  const cursor: Cursor = { bytes, text: bytes.toString('latin1'), at: 0, values: 0, isFree: false, ...NOTHING_SEEN }
  const shape: Findings = { fields: new Map(), messages: [], plain: true, memos: undefined, ...NO_CONTENT }
  try {
    walkBody(cursor, shape)
  } catch (error) {
    throw error instanceof BodyFault ? refusal(cursor.text, error) : error
  }
  shape.plain &&= shape.fields.has('messages') && !hasRawControls(cursor.text)
  shape.isText = cursor.isText
  shape.cacheMarks = cacheMarksOf(cursor, shape)
  return shape
}

function cacheMarksOf({ seen, hasLongTtl }: Cursor, { fields }: Findings): Findings['cacheMarks'] {
  if ((seen & ESCAPED) !== 0) return '1h'
  if ((seen & CACHE_CONTROL) === 0 && !fields.has('cache_control')) return 'none'
  return hasLongTtl ? '1h' : '5m'
}

function refusal(text: string, cause: BodyFault): GatewayError {
  return new GatewayError('invalid_request', `${pathAt(text, cause.position)}: ${cause.reason}.`, { cause })
}

/** Unfinished result of a scan. */
interface Findings {
  readonly fields: Map<string, Range>
  readonly messages: Range[]
  plain: boolean
  isText: boolean
  cacheMarks: RequestShape['cacheMarks']
  memos: Map<symbol, unknown> | undefined
}

const NOTHING_SEEN = { seen: 0, isText: true, hasLongTtl: false }
const NO_CONTENT = { isText: true, cacheMarks: 'none' } as const

function walkBody(cursor: Cursor, findings: Findings): void {
  const { text } = cursor
  const start = skipSpace(text, 0)
  if (text.charCodeAt(start) !== OPEN_BRACE) throw unexpected(text, start, 'an object')
  const first = skipSpace(text, start + 1)
  cursor.at = first + 1
  if (text.charCodeAt(first) !== CLOSE_BRACE) walkFields(cursor, first, findings)
  const end = skipSpace(text, cursor.at)
  if (end < text.length) throw unexpected(text, end, 'the end of the document')
}

function walkFields(cursor: Cursor, firstKey: number, findings: Findings): void {
  let next = firstKey
  while (next > 0) {
    cursor.at = next
    const name = walkKey(cursor, findings)
    const start = cursor.at
    if (findings.fields.has(name)) throw duplicate(next)
    if (findings.fields.size === MOST_FIELDS) throw new BodyFault(`expected at most ${MOST_FIELDS} fields`, next)
    if (!walkField(cursor, name, findings)) findings.plain = false
    findings.fields.set(name, { start, end: cursor.at })
    next = nextMember(cursor.text, cursor.at)
  }
  cursor.at = -next
}

/** Moves from a key to its value; returns the decoded key. */
function walkKey(cursor: Cursor, findings: Findings): string {
  const { text, at } = cursor
  const word = wordAt(NAMES, cursor.bytes, at)
  if (word !== undefined) {
    cursor.at = skipColon(text, at + word.quoted.length)
    return word.value
  }
  const end = skipName(text, at)
  cursor.at = skipColon(text, end)
  // Parsed, not sliced: the names outlive the scan, and a slice would keep the whole text alive with them.
  const name = parseKey(cursor.bytes.subarray(at, end), at)
  if (name.length !== end - at - 2) findings.plain = false
  assertCase(name, FIELD_NAMES, at)
  return name
}

/** Moves past a field's value; returns whether the value certainly fits the schema, as far as the scan checks. */
function walkField(cursor: Cursor, name: string, findings: Findings): boolean {
  switch (name) {
    case 'messages':
      return walkMessages(cursor, findings.messages)
    case 'system':
      return walkSystem(cursor)
    case 'tools':
      return walkTools(cursor)
    default:
      walkOtherField(cursor, name)
      return true
  }
}

/** Moves past the value of a field that is no content. */
function walkOtherField(cursor: Cursor, name: string): void {
  const { isText } = cursor
  if (hasFreeNames(name)) walkFreeValue(cursor, 1)
  else walkValue(cursor, 1)
  cursor.isText = isText
}

/** Returns whether there are raw line ends or tabs: white space between tokens, but an error inside a string. */
function hasRawControls(text: string): boolean {
  return text.includes('\n') || text.includes('\t') || text.includes('\r')
}
