/**
 * DESIGN: a quick check of `messages`, `system` and `tools` while the scan walks over them.
 *
 * Purpose: fast accept, slow explain. Nearly every request is valid, and for those the walk itself can be sure of it:
 * it sees each key of a message or block, and the first byte of each value, which tells the value's kind. Where it is
 * not sure it says no, and the caller parses the body and lets the schema in `message.ts` decide and explain.
 *
 * Guarantee: what fits here is accepted by `messageRequestSchema` (a property test holds the two together). The reverse
 * is not promised: an escaped key, a null in a rare place, one bad value of a key written twice make the answer no.
 *
 * How: every member name that the schema knows has one bit. The walk over an object collects the names it met (`seen`)
 * and those whose value does not suit them (`wrong`); the object's shape says which bits it needs and which matter:
 *
 *     {"type":"text","text":5}      seen = TYPE|TEXT, wrong = TEXT; a text block checks TEXT, so this one is unfit
 *     {"type":"novel","text":5}     the same bits, but a block of an unknown type only checks its TYPE, so this passes
 */
import {
  assertDepth,
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  LOWER_F,
  LOWER_N,
  LOWER_T,
  nextElement,
  nextMember,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  type Range,
  skipColon,
  skipKey,
  skipSpace,
  skipValue,
} from './scan-value.ts'
import { createWordTable, wordAt } from './scan-words.ts'

/** A place in the document. Every walk leaves `at` behind the value that it walked over. */
export interface Cursor {
  readonly bytes: Buffer
  /** The bytes read as latin1. */
  readonly text: string
  at: number
}

const TYPE = 1 << 0
const ROLE = 1 << 1
const CONTENT = 1 << 2
const TEXT = 1 << 3
const SOURCE = 1 << 4
const ID = 1 << 5
const NAME = 1 << 6
const INPUT = 1 << 7
const TOOL_USE_ID = 1 << 8
const IS_ERROR = 1 << 9
const CACHE_CONTROL = 1 << 10
const DESCRIPTION = 1 << 11
const ESCAPED = 1 << 12

/** The first bytes that a value may have: they tell its kind. */
type FirstBytes = readonly [number, number]

const STRING: FirstBytes = [QUOTE, QUOTE]
const OBJECT: FirstBytes = [OPEN_BRACE, OPEN_BRACE]
const OBJECT_OR_NULL: FirstBytes = [OPEN_BRACE, LOWER_N]
const BOOLEAN: FirstBytes = [LOWER_T, LOWER_F]
const NOTHING: FirstBytes = [0, 0]

/** A member name that some rule is about, and which values suit it. */
interface Member {
  readonly bit: number
  readonly firstBytes: FirstBytes
}

const MEMBERS = createWordTable<Member>({
  type: { bit: TYPE, firstBytes: STRING },
  role: { bit: ROLE, firstBytes: NOTHING },
  content: { bit: CONTENT, firstBytes: STRING },
  text: { bit: TEXT, firstBytes: STRING },
  source: { bit: SOURCE, firstBytes: NOTHING },
  id: { bit: ID, firstBytes: STRING },
  name: { bit: NAME, firstBytes: STRING },
  input: { bit: INPUT, firstBytes: OBJECT },
  tool_use_id: { bit: TOOL_USE_ID, firstBytes: STRING },
  is_error: { bit: IS_ERROR, firstBytes: BOOLEAN },
  cache_control: { bit: CACHE_CONTROL, firstBytes: OBJECT_OR_NULL },
  description: { bit: DESCRIPTION, firstBytes: STRING },
})
/** A key with an escape in it may be any of the names, so no value suits it. */
const ESCAPED_MEMBER: Member = { bit: ESCAPED, firstBytes: NOTHING }
const OTHER_MEMBER: Member = { bit: 0, firstBytes: NOTHING }

const ROLES = createWordTable({ user: ROLE, assistant: ROLE, system: ROLE })

/** The members that an object must have, and those whose values must suit their names. */
interface ObjectShape {
  readonly needed: number
  readonly checked: number
}

const MESSAGE: ObjectShape = { needed: ROLE | CONTENT, checked: ROLE | CONTENT }
const TOOL: ObjectShape = { needed: 0, checked: TYPE | NAME | DESCRIPTION }
/** An object of which only the `type` is known: an image's source, a block of an unknown type. */
const TYPED: ObjectShape = { needed: TYPE, checked: TYPE }
/** A block, until its `type` says which of `BLOCKS` it is. */
const BLOCK: ObjectShape = { ...TYPED }
const BLOCKS = createWordTable<ObjectShape>({
  text: { needed: TYPE | TEXT, checked: TYPE | TEXT | CACHE_CONTROL },
  image: { needed: TYPE | SOURCE, checked: TYPE | SOURCE | CACHE_CONTROL },
  tool_use: { needed: TYPE | ID | NAME | INPUT, checked: TYPE | ID | NAME | INPUT | CACHE_CONTROL },
  tool_result: { needed: TYPE | TOOL_USE_ID, checked: TYPE | TOOL_USE_ID | CONTENT | IS_ERROR | CACHE_CONTROL },
})

/** Walks over the value of `messages` and adds its elements' ranges to `found`; whether it surely fits the schema. */
export function walkMessages(cursor: Cursor, found: Range[]): boolean {
  if (cursor.bytes[cursor.at] === OPEN_BRACKET) return walkArray(cursor, MESSAGE, 1, found)
  skip(cursor, 1)
  return false
}

/** Walks over the value of `system`; whether it surely fits the schema. */
export function walkSystem(cursor: Cursor): boolean {
  const first = cursor.bytes[cursor.at]
  if (first === OPEN_BRACKET) return walkArray(cursor, BLOCK, 1)
  skip(cursor, 1)
  return first === QUOTE || first === LOWER_N
}

/** Walks over the value of `tools`; whether it surely fits the schema. */
export function walkTools(cursor: Cursor): boolean {
  const first = cursor.bytes[cursor.at]
  if (first === OPEN_BRACKET) return walkArray(cursor, TOOL, 1)
  skip(cursor, 1)
  return first === LOWER_N
}

function skip(cursor: Cursor, depth: number): void {
  cursor.at = skipValue(cursor.text, cursor.at, depth)
}

function walkArray(cursor: Cursor, shape: ObjectShape, depth: number, found?: Range[]): boolean {
  const { text } = cursor
  assertDepth(depth, cursor.at)
  let fits = true
  let next = skipSpace(text, cursor.at + 1)
  if (text.charCodeAt(next) === CLOSE_BRACKET) next = -(next + 1)
  while (next > 0) {
    cursor.at = next
    if (!walkElement(cursor, shape, depth + 1)) fits = false
    found?.push({ start: next, end: cursor.at })
    next = nextElement(text, cursor.at)
  }
  cursor.at = -next
  return fits
}

function walkElement(cursor: Cursor, shape: ObjectShape, depth: number): boolean {
  if (cursor.bytes[cursor.at] === OPEN_BRACE) return walkObject(cursor, shape, depth)
  skip(cursor, depth)
  return false
}

function walkObject(cursor: Cursor, expected: ObjectShape, depth: number): boolean {
  const { text } = cursor
  assertDepth(depth, cursor.at)
  let shape = expected
  let seen = 0
  let wrong = 0
  let next = skipSpace(text, cursor.at + 1)
  if (text.charCodeAt(next) === CLOSE_BRACE) next = -(next + 1)
  while (next > 0) {
    cursor.at = next
    const member = walkKey(cursor)
    const { bit } = member
    if (bit === TYPE && expected === BLOCK) shape = wordAt(BLOCKS, cursor.bytes, cursor.at)?.value ?? TYPED
    if (!walkMember(cursor, member, depth + 1)) wrong |= bit
    seen |= bit
    next = nextMember(text, cursor.at)
  }
  cursor.at = -next
  return (seen & shape.needed) === shape.needed && (wrong & (shape.checked | ESCAPED)) === 0
}

/** Moves from a key to its value; the member that the key names. */
function walkKey(cursor: Cursor): Member {
  const { text, bytes, at } = cursor
  const word = wordAt(MEMBERS, bytes, at)
  if (word !== undefined) {
    cursor.at = skipColon(text, at + word.quoted.length)
    return word.value
  }
  const end = skipKey(text, at)
  cursor.at = skipColon(text, end)
  return hasBackslash(bytes, at, end) ? ESCAPED_MEMBER : OTHER_MEMBER
}

/** Moves behind a member's value; whether the value suits the member's name. */
function walkMember(cursor: Cursor, { bit, firstBytes }: Member, depth: number): boolean {
  const { bytes, at } = cursor
  const first = bytes[at]
  if (bit === CONTENT && first === OPEN_BRACKET) return walkArray(cursor, BLOCK, depth)
  if (bit === SOURCE && first === OPEN_BRACE) return walkObject(cursor, TYPED, depth)
  skip(cursor, depth)
  if (bit === ROLE) return wordAt(ROLES, bytes, at) !== undefined
  if (bit === TYPE && hasBackslash(bytes, at, cursor.at)) return false
  return first === firstBytes[0] || first === firstBytes[1]
}

function hasBackslash(bytes: Buffer, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    if (bytes[i] === BACKSLASH) return true
  }
  return false
}
