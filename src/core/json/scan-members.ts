/**
 * DESIGN: checks the members of an object while the scan walks over them.
 *
 * Two readers of one body must not see two requests. JSON leaves open which of two members of the same name counts (RFC
 * 8259, section 4), and some servers match names without regard to case; so an object in which a name appears twice,
 * decoded, or in which a known name has another case, is a `BodyFault`. The inside of `DATA` members is exempt: inputs of
 * tools and JSON schemas are data of the client or of a model, forwarded and counted as text, and a history with a
 * duplicate in them must stay usable. In a member of an unknown name the case is not checked: its content has the
 * client's own names (`parsed` answers, `configs` by tool, `structuredContent`), and counts as text.
 *
 * How: each known name has a bit, and a word table recognises it in place; only other names are decoded and collected.
 */
import { BodyFault } from './body-fault.ts'
import { decodeString } from './json-path.ts'
import { MEMBER_NAMES, otherCaseOf } from './known-names.ts'
import { ScanError } from './scan-error.ts'
import { QUOTE } from './scan-string.ts'
import { LOWER_F, LOWER_N, LOWER_T, OPEN_BRACE, skipColon, skipKey, type Tally } from './scan-value.ts'
import { createWordTable, wordAt } from './scan-words.ts'

/** A place in the document. Every walk leaves `at` after the value that it walked over. */
export interface Cursor extends Tally {
  readonly bytes: Buffer
  /** The bytes read as latin1. */
  readonly text: string
  at: number
  /** Set while the names walked over are the client's own: their case is not checked. */
  isFree: boolean
  /** Bits of the names met so far, outside data. */
  seen: number
  /** Cleared by a name or a type that may stand for more than its text. */
  isText: boolean
  /** Set by a lifetime of a cache entry other than the usual one. */
  hasLongTtl: boolean
}

export const TYPE = 1 << 0
export const ROLE = 1 << 1
export const CONTENT = 1 << 2
export const TEXT = 1 << 3
export const SOURCE = 1 << 4
export const ID = 1 << 5
export const NAME = 1 << 6
export const INPUT = 1 << 7
export const TOOL_USE_ID = 1 << 8
export const IS_ERROR = 1 << 9
export const CACHE_CONTROL = 1 << 10
export const DESCRIPTION = 1 << 11
/** The key has an escape. */
export const ESCAPED = 1 << 12
const FIRST_OTHER_BIT = 13
/** Names without a bit whose values are text, in any object. */
const TEXT_NAMES = new Set([
  'caller',
  'eager_input_streaming',
  'allowed_callers',
  'refusal',
  'reasoning_content',
  'index',
])

/** The first bytes that a value may have: they show its kind. */
type FirstBytes = readonly [number, number]

const STRING: FirstBytes = [QUOTE, QUOTE]
const OBJECT: FirstBytes = [OPEN_BRACE, OPEN_BRACE]
const OBJECT_OR_NULL: FirstBytes = [OPEN_BRACE, LOWER_N]
const BOOLEAN: FirstBytes = [LOWER_T, LOWER_F]
const NOTHING: FirstBytes = [0, 0]

/** A member name with a rule, and the values that suit it. */
export interface Member {
  readonly bit: number
  readonly firstBytes: FirstBytes
  /** The value is data: names inside it mean nothing here. */
  readonly isData: boolean
  /** The names inside are the client's own: their case is not checked. */
  readonly isFree: boolean
}

/** Frequent names without a rule: with a bit, they cost no decoding. */
const FREQUENT = [
  ...['thinking', 'signature', 'data', 'media_type', 'title', 'ttl', 'url', 'image_url', 'tool_calls', 'function'],
  ...['tool_call_id', 'strict', 'defer_loading'],
]
const DATA = ['input', 'input_schema', 'input_examples', 'parameters', 'schema', 'arguments']

const RULES: Readonly<Record<string, readonly [bit: number, firstBytes: FirstBytes]>> = {
  type: [TYPE, STRING],
  role: [ROLE, NOTHING],
  content: [CONTENT, STRING],
  text: [TEXT, STRING],
  source: [SOURCE, NOTHING],
  id: [ID, STRING],
  name: [NAME, STRING],
  input: [INPUT, OBJECT],
  tool_use_id: [TOOL_USE_ID, STRING],
  is_error: [IS_ERROR, BOOLEAN],
  cache_control: [CACHE_CONTROL, OBJECT_OR_NULL],
  description: [DESCRIPTION, STRING],
}

function membersByName(): Readonly<Record<string, Member>> {
  const names = [...new Set([...Object.keys(RULES), ...FREQUENT, ...DATA])]
  let next = FIRST_OTHER_BIT
  const members = names.map((name): [string, Member] => {
    const [bit, firstBytes] = RULES[name] ?? [1 << next++, NOTHING]
    return [name, { bit, firstBytes, isData: DATA.includes(name), isFree: false }]
  })
  return Object.fromEntries(members)
}

const BY_NAME = membersByName()
const MEMBERS = createWordTable(BY_NAME)
const bitsOf = (names: readonly string[]) => names.reduce((bits, name) => bits | (BY_NAME[name]?.bit ?? 0), 0)
/** Names of media, and names that must be decoded first. */
export const MORE_THAN_TEXT = ESCAPED | bitsOf(['source', 'data', 'media_type', 'url', 'image_url'])
/** Lifetime of a cache entry. */
export const TTL = bitsOf(['ttl'])
/** The same names written with an escape: no value suits those, so the schema decides. */
const ESCAPED_MEMBERS = new Map(
  Object.entries(BY_NAME).map(([name, member]) => [
    name,
    { ...member, bit: member.bit | ESCAPED, firstBytes: NOTHING },
  ]),
)
/** Most members of an object outside data: a table of so many names costs 10 ms to make. */
const MOST_NAMES = 10_000
/** Longest name of a member outside data, in bytes as written: names are decoded, compared and kept. */
const LONGEST_NAME = 1024
const QUOTES = 2
/** A member without a bit whose content is the API's. */
const KNOWN_MEMBER: Member = { bit: 0, firstBytes: NOTHING, isData: false, isFree: false }
const UNKNOWN_MEMBER: Member = { ...KNOWN_MEMBER, isFree: true }

/** The names of one object. */
export interface Names {
  /** Bits of the names met. */
  seen: number
  /** Names without a bit. */
  others: Set<string> | undefined
}

/** Moves from the key at the cursor to its value; returns the member that it names. Throws `BodyFault` for a duplicate. */
export function walkName(cursor: Cursor, names: Names): Member {
  const { text, bytes, at } = cursor
  const word = wordAt(MEMBERS, bytes, at)
  if (word === undefined) return walkOtherName(cursor, names)
  cursor.at = skipColon(text, at + word.quoted.length)
  note(names, word.value, at)
  return word.value
}

function walkOtherName(cursor: Cursor, names: Names): Member {
  const { text, at } = cursor
  const end = skipName(text, at)
  const name = decodeKey(text, at, end)
  cursor.at = skipColon(text, end)
  const member = ESCAPED_MEMBERS.get(name)
  if (member !== undefined) {
    note(names, member, at)
    return member
  }
  if (!TEXT_NAMES.has(name)) cursor.isText = false
  if (!cursor.isFree) assertCase(name, MEMBER_NAMES, at)
  names.others ??= new Set()
  if (names.others.has(name)) throw duplicate(at)
  if (names.others.size === MOST_NAMES) throw new BodyFault(`expected at most ${MOST_NAMES} members`, at)
  names.others.add(name)
  return MEMBER_NAMES.has(name) ? KNOWN_MEMBER : UNKNOWN_MEMBER
}

/** Returns the byte offset after the key at `at`. Throws `ScanError`, and `BodyFault` for a name that is too long. */
export function skipName(text: string, at: number): number {
  const end = skipKey(text, at)
  if (end - at > LONGEST_NAME + QUOTES) throw new BodyFault(`expected a name of at most ${LONGEST_NAME} bytes`, at)
  return end
}

function note(names: Names, { bit }: Member, at: number): void {
  if ((names.seen & bit & ~ESCAPED) !== 0) throw duplicate(at)
  names.seen |= bit
}

/** Makes the `BodyFault` for the second member of a name, whose key is at byte `position`. */
export function duplicate(position: number): BodyFault {
  return new BodyFault('the member appears twice in its object', position)
}

/** Throws `BodyFault` when a name, whose key is at byte `position`, is one of `known` in another case. */
export function assertCase(name: string, known: ReadonlySet<string>, position: number): void {
  const meant = otherCaseOf(name, known)
  if (meant !== undefined) throw new BodyFault(`expected \`${meant}\` in lower case`, position)
}

/** Decodes the key between two offsets, quotes included. Throws `ScanError` for a wrong escape. */
export function decodeKey(text: string, start: number, end: number): string {
  const name = decodeString(text, start, end)
  if (name === undefined) throw new ScanError('a key with a wrong escape or a raw control character', start)
  return name
}
