/**
 * DESIGN: a quick check of `messages`, `system` and `tools` while the scan walks over them.
 *
 * Purpose: fast accept, slow explain. Nearly every request is valid, and the walk itself can prove it for most: it sees
 * each key of a message or block, and the first byte of each value, which shows the value's kind. Where that is no proof,
 * it returns false, and the caller parses the body and lets the schema in `message.ts` decide and explain.
 *
 * Guarantee: what fits here is accepted by `messageRequestSchema` (a property test compares the two). The reverse
 * is not promised: an escaped key and a null in a rare place return false.
 * Every object outside data is held to the rules of `scan-members.ts`, and every value is counted.
 *
 * How: every member name that the schema knows has one bit. The walk over an object collects the names it met (`seen`)
 * and those whose value does not suit them (`wrong`); the object's shape defines which bits it needs and which matter:
 *
 *     {"type":"text","text":5}      seen = TYPE|TEXT, wrong = TEXT; a text block checks TEXT, so this one is unfit
 *     {"type":"novel","text":5}     the same bits, but a block of an unknown type only checks its TYPE, so this passes
 */
import { BodyFault } from './body-fault.ts'
import {
  CACHE_CONTROL,
  CONTENT,
  type Cursor,
  DESCRIPTION,
  ESCAPED,
  ID,
  INPUT,
  IS_ERROR,
  type Member,
  MORE_THAN_TEXT,
  NAME,
  type Names,
  ROLE,
  SOURCE,
  TEXT,
  TOOL_USE_ID,
  TTL,
  TYPE,
  walkName,
} from './scan-members.ts'
import { BACKSLASH, QUOTE } from './scan-string.ts'
import {
  assertDepth,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  count,
  LOWER_N,
  nextElement,
  nextMember,
  OPEN_BRACE,
  OPEN_BRACKET,
  type Range,
  skipSpace,
  skipValue,
} from './scan-value.ts'
import { createWordTable, wordAt } from './scan-words.ts'

/** Most tools of a request; the provider's own search of tools takes as many (Claude API, "Tool search tool"). */
const MOST_TOOLS = 10_000
/** Most elements of any list outside data; the provider takes as many messages (Claude API, "Messages"). */
const MOST_ELEMENTS = 100_000
/** The character code of `9`: numbers begin with a digit or a minus. */
const LAST_NUMBER_START = 57
/** `1e309` */
const SHORTEST_INFINITE = 5

const ROLES = createWordTable({ user: ROLE, assistant: ROLE, system: ROLE })
/** Types of tools that the client runs; a provider's own have prompts and results that are not in the body. */
const CLIENTS_TOOLS = createWordTable({ custom: TYPE, function: TYPE })
const USUAL_TTL = createWordTable({ '5m': TTL })

/** The members that an object must have, and those whose values must suit their names. */
interface ObjectShape {
  readonly needed: number
  readonly checked: number
}

const MESSAGE: ObjectShape = { needed: ROLE | CONTENT, checked: ROLE | CONTENT }
const TOOL: ObjectShape = { needed: 0, checked: TYPE | NAME | DESCRIPTION }
/** An object of which only the `type` is known: an image's source, a block of an unknown type. */
const TYPED: ObjectShape = { needed: TYPE, checked: TYPE }
/** A block, until its `type` selects one of `BLOCKS`. */
const BLOCK: ObjectShape = { ...TYPED }
/** Any other object: only its names are checked. */
const ANY: ObjectShape = { needed: 0, checked: 0 }
const BLOCKS = createWordTable<ObjectShape>({
  text: { needed: TYPE | TEXT, checked: TYPE | TEXT | CACHE_CONTROL },
  image: { needed: TYPE | SOURCE, checked: TYPE | SOURCE | CACHE_CONTROL },
  tool_use: { needed: TYPE | ID | NAME | INPUT, checked: TYPE | ID | NAME | INPUT | CACHE_CONTROL },
  tool_result: { needed: TYPE | TOOL_USE_ID, checked: TYPE | TOOL_USE_ID | CONTENT | IS_ERROR | CACHE_CONTROL },
})

/** Walks over `messages` and adds its elements' ranges to `found`; returns whether it certainly fits the schema. */
export function walkMessages(cursor: Cursor, found: Range[]): boolean {
  if (cursor.bytes[cursor.at] === OPEN_BRACKET) return walkArray(cursor, MESSAGE, 1, found)
  walkValue(cursor, 1)
  return false
}

/** Walks over the value of `system`; returns whether it certainly fits the schema. */
export function walkSystem(cursor: Cursor): boolean {
  const first = cursor.bytes[cursor.at]
  if (first === OPEN_BRACKET) return walkArray(cursor, BLOCK, 1)
  walkValue(cursor, 1)
  return first === QUOTE || first === LOWER_N
}

/** Walks over the value of `tools`; returns whether it certainly fits the schema. */
export function walkTools(cursor: Cursor): boolean {
  const first = cursor.bytes[cursor.at]
  if (first === OPEN_BRACKET) return walkArray(cursor, TOOL, 1)
  walkValue(cursor, 1)
  return first === LOWER_N
}

/** Walks over a value of which only the names are checked. */
export function walkValue(cursor: Cursor, depth: number): void {
  const { text, at } = cursor
  const first = text.charCodeAt(at)
  if (first === OPEN_BRACE) walkObject(cursor, ANY, depth)
  else if (first === OPEN_BRACKET) walkArray(cursor, ANY, depth)
  else {
    cursor.at = skipValue(text, at, depth)
    if (!cursor.isFree && first <= LAST_NUMBER_START && first !== QUOTE && cursor.at - at >= SHORTEST_INFINITE)
      assertFinite(cursor, at)
  }
}

/** Walks over a value in which names are the client's own. */
export function walkFreeValue(cursor: Cursor, depth: number): void {
  const { isFree } = cursor
  cursor.isFree = true
  walkValue(cursor, depth)
  cursor.isFree = isFree
}

/** Refuses a number such as 1e400, which is infinite for one reader and an error for another. */
function assertFinite({ text, at: end }: Cursor, start: number): void {
  if (!Number.isFinite(Number(text.slice(start, end)))) throw new BodyFault('expected a number below 1.8e308', start)
}

function walkArray(cursor: Cursor, shape: ObjectShape, depth: number, found?: Range[]): boolean {
  const { text } = cursor
  assertDepth(depth, cursor.at)
  const most = shape === TOOL ? MOST_TOOLS : MOST_ELEMENTS
  let elements = 0
  let fits = true
  let next = skipSpace(text, cursor.at + 1)
  if (text.charCodeAt(next) === CLOSE_BRACKET) next = -(next + 1)
  while (next > 0) {
    cursor.at = next
    count(cursor, next)
    if (++elements > most) throw new BodyFault(`expected at most ${most} elements`, next)
    if (!walkElement(cursor, shape, depth + 1)) fits = false
    found?.push({ start: next, end: cursor.at })
    next = nextElement(text, cursor.at)
  }
  cursor.at = -next
  return fits
}

function walkElement(cursor: Cursor, shape: ObjectShape, depth: number): boolean {
  if (cursor.bytes[cursor.at] === OPEN_BRACE) return walkObject(cursor, shape, depth)
  walkValue(cursor, depth)
  return false
}

function walkObject(cursor: Cursor, expected: ObjectShape, depth: number): boolean {
  const { text } = cursor
  assertDepth(depth, cursor.at)
  let shape = expected
  const names: Names = { seen: 0, others: undefined }
  let wrong = 0
  let next = skipSpace(text, cursor.at + 1)
  if (text.charCodeAt(next) === CLOSE_BRACE) next = -(next + 1)
  while (next > 0) {
    cursor.at = next
    count(cursor, next)
    const member = walkName(cursor, names)
    const { bit } = member
    if (bit === TYPE && expected === BLOCK) shape = wordAt(BLOCKS, cursor.bytes, cursor.at)?.value ?? TYPED
    if (bit === TYPE && expected === TOOL)
      cursor.isText &&= wordAt(CLIENTS_TOOLS, cursor.bytes, cursor.at) !== undefined
    if (!walkMember(cursor, member, depth + 1)) wrong |= bit
    next = nextMember(text, cursor.at)
  }
  cursor.at = -next
  cursor.seen |= names.seen
  if ((names.seen & MORE_THAN_TEXT) !== 0) cursor.isText = false
  return (names.seen & shape.needed) === shape.needed && (wrong & (shape.checked | ESCAPED)) === 0
}

/** Moves past a member's value; returns whether the value suits the member's name. */
function walkMember(cursor: Cursor, { bit, firstBytes, isData, isFree }: Member, depth: number): boolean {
  const { bytes, text, at } = cursor
  const first = bytes[at]
  if (bit === CONTENT && first === OPEN_BRACKET) return walkArray(cursor, BLOCK, depth)
  if (bit === SOURCE && first === OPEN_BRACE) return walkObject(cursor, TYPED, depth)
  if (isData) cursor.at = skipValue(text, at, depth, cursor)
  else if (isFree) walkFreeValue(cursor, depth)
  else walkValue(cursor, depth)
  if (bit === TTL) cursor.hasLongTtl ||= wordAt(USUAL_TTL, bytes, at) === undefined
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
