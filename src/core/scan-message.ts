/**
 * DESIGN: a quick check of `messages`, `system` and `tools` while the scan walks over them.
 *
 * Purpose: fast accept, slow explain. Nearly every request is valid, and for those the walk itself can be sure of it:
 * it sees each key of a message or block, and the first byte of each value, which tells the value's kind. Where it is
 * not sure it says no, and the caller parses the body and lets the schema in `message.ts` decide and explain.
 *
 * Guarantee: what fits here is accepted by `messageRequestSchema` (a property test holds them together). The reverse is
 * not promised: an escaped key, a key written twice or a null in a rare place make the answer no.
 *
 * How: every member name that the schema knows is one bit. The walk over an object collects the names it met (`seen`)
 * and those whose value does not suit them (`wrong`); the object's shape then says which bits it needs and which matter.
 * A block of an unknown type needs only its `type`, so whatever else it carries passes.
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

/** A place in the document's text. Every walk leaves `at` behind the value that it walked over. */
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
const INPUT_SCHEMA = 1 << 12
/** Stands for a key with an escape in it, which might be any of the names: always wrong. */
const ESCAPED = 1 << 13

/** What an object must have, and which of its members' values must suit their names. */
interface ObjectShape {
  readonly needed: number
  readonly checked: number
}

const MESSAGE: ObjectShape = { needed: ROLE | CONTENT, checked: ROLE | CONTENT }
const TOOL: ObjectShape = { needed: 0, checked: TYPE | NAME | DESCRIPTION | INPUT_SCHEMA }
/** An object of which only the `type` is known: an image's source, a block of an unknown type. */
const TYPED: ObjectShape = { needed: TYPE, checked: TYPE }
/** A block, until its `type` says which of `BLOCKS` it is. */
const BLOCK: ObjectShape = { ...TYPED }

const MEMBERS = createWordTable({
  type: TYPE,
  role: ROLE,
  content: CONTENT,
  text: TEXT,
  source: SOURCE,
  id: ID,
  name: NAME,
  input: INPUT,
  tool_use_id: TOOL_USE_ID,
  is_error: IS_ERROR,
  cache_control: CACHE_CONTROL,
  description: DESCRIPTION,
  input_schema: INPUT_SCHEMA,
})
const ROLES = createWordTable({ user: true, assistant: true, system: true })
const BLOCKS = createWordTable<ObjectShape>({
  text: { needed: TYPE | TEXT, checked: TYPE | TEXT | CACHE_CONTROL },
  image: { needed: TYPE | SOURCE, checked: TYPE | SOURCE | CACHE_CONTROL },
  tool_use: { needed: TYPE | ID | NAME | INPUT, checked: TYPE | ID | NAME | INPUT | CACHE_CONTROL },
  tool_result: {
    needed: TYPE | TOOL_USE_ID,
    checked: TYPE | TOOL_USE_ID | CONTENT | IS_ERROR | CACHE_CONTROL,
  },
})

/** Walks over the value of `messages`, adds its elements' ranges to `found`; whether all of it surely fits the schema. */
export function walkMessages(cursor: Cursor, found: Range[]): boolean {
  return cursor.text.charCodeAt(cursor.at) === OPEN_BRACKET ? walkArray(cursor, MESSAGE, 1, found) : pass(cursor, 1)
}

/** Walks over the value of `system`; whether it surely fits the schema. */
export function walkSystem(cursor: Cursor): boolean {
  const first = cursor.text.charCodeAt(cursor.at)
  if (first === OPEN_BRACKET) return walkArray(cursor, BLOCK, 1)
  pass(cursor, 1)
  return first === QUOTE || first === LOWER_N
}

/** Walks over the value of `tools`; whether it surely fits the schema. */
export function walkTools(cursor: Cursor): boolean {
  const first = cursor.text.charCodeAt(cursor.at)
  if (first === OPEN_BRACKET) return walkArray(cursor, TOOL, 1)
  pass(cursor, 1)
  return first === LOWER_N
}

/** Moves behind a value that does not fit. */
function pass(cursor: Cursor, depth: number): false {
  cursor.at = skipValue(cursor.text, cursor.at, depth)
  return false
}

function walkArray(cursor: Cursor, shape: ObjectShape, depth: number, found?: Range[]): boolean {
  assertDepth(depth, cursor.at)
  let fits = true
  let at = skipSpace(cursor.text, cursor.at + 1)
  if (cursor.text.charCodeAt(at) === CLOSE_BRACKET) {
    cursor.at = at + 1
    return fits
  }
  for (;;) {
    cursor.at = at
    if (!walkElement(cursor, shape, depth + 1)) fits = false
    found?.push({ start: at, end: cursor.at })
    at = nextElement(cursor.text, cursor.at)
    if (at < 0) break
  }
  cursor.at = -at
  return fits
}

function walkElement(cursor: Cursor, shape: ObjectShape, depth: number): boolean {
  if (cursor.text.charCodeAt(cursor.at) !== OPEN_BRACE) return pass(cursor, depth)
  return walkObject(cursor, shape, depth)
}

function walkObject(cursor: Cursor, shape: ObjectShape, depth: number): boolean {
  const { text, bytes } = cursor
  assertDepth(depth, cursor.at)
  let seen = 0
  let wrong = 0
  let actual = shape
  let at = skipSpace(text, cursor.at + 1)
  if (text.charCodeAt(at) === CLOSE_BRACE) {
    cursor.at = at + 1
    return shape.needed === 0
  }
  for (;;) {
    cursor.at = at
    const member = walkKey(cursor)
    if (member === TYPE && shape === BLOCK) actual = wordAt(BLOCKS, bytes, cursor.at)?.value ?? TYPED
    if (!walkMember(cursor, member, depth + 1) || (seen & member) !== 0) wrong |= member
    seen |= member
    at = nextMember(text, cursor.at)
    if (at < 0) break
  }
  cursor.at = -at
  return (seen & actual.needed) === actual.needed && (wrong & (actual.checked | ESCAPED)) === 0
}

/** Moves from a key to its value; the bit of the key, 0 for a key that no rule is about. */
function walkKey(cursor: Cursor): number {
  const { text, bytes, at } = cursor
  const word = wordAt(MEMBERS, bytes, at)
  const end = word === undefined ? skipKey(text, at) : at + word.quoted.length
  cursor.at = skipColon(text, end)
  if (word !== undefined) return word.value
  return hasBackslash(bytes, at, end) ? ESCAPED : 0
}

/** Moves behind a member's value; whether the value suits the member's name. */
function walkMember(cursor: Cursor, member: number, depth: number): boolean {
  const { text, bytes, at } = cursor
  const first = bytes[at]
  if (member === ROLE) {
    const role = wordAt(ROLES, bytes, at)
    if (role !== undefined) {
      cursor.at = at + role.quoted.length
      return true
    }
  }
  if (first === OPEN_BRACKET && member === CONTENT) return walkArray(cursor, BLOCK, depth)
  if (first === OPEN_BRACE && member === SOURCE) return walkObject(cursor, TYPED, depth)
  cursor.at = skipValue(text, at, depth)
  switch (member) {
    case CONTENT:
    case TEXT:
    case ID:
    case NAME:
    case TOOL_USE_ID:
    case DESCRIPTION:
      return first === QUOTE
    case TYPE:
      return first === QUOTE && !hasBackslash(bytes, at, cursor.at)
    case INPUT:
    case INPUT_SCHEMA:
      return first === OPEN_BRACE
    case CACHE_CONTROL:
      return first === OPEN_BRACE || first === LOWER_N
    case IS_ERROR:
      return first === LOWER_T || first === LOWER_F
    default:
      return member === 0
  }
}

function hasBackslash(bytes: Buffer, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    if (bytes[i] === BACKSLASH) return true
  }
  return false
}
