/**
 * DESIGN: finds where a body that JSON.parse refuses stops being JSON, and why.
 *
 * Purpose: a helpful message of our own, since V8's quotes the document, and prompts must not get into error replies and
 * logs. A message shows one character of the document at most.
 * How: the scan finds structural faults; it does not look into strings, so the strings that it skipped are checked here, and
 * the earlier of the two faults counts. Only refusals pay for this slow path: a few nanoseconds a byte.
 */
import { isUtf8 } from 'node:buffer'
import { GatewayError } from '../errors.ts'
import { ScanError, unexpected } from './scan-error.ts'
import { BACKSLASH, QUOTE } from './scan-string.ts'
import { skipSpace, skipValue } from './scan-value.ts'

/** Position of the first fault of a body: byte offset, and line and column from 1, in UTF-16 units as in editors. */
interface JsonErrorLocation {
  position: number
  line: number
  column: number
  /** The reason, without the position. */
  message: string
}

const FIRST_UNESCAPED = 32
const LOWER_U = 117
const HEX_DIGITS = 4
const SHORT_ESCAPES = '"\\/bfnrt'
const HEX_DIGIT = /[0-9a-fA-F]/
/** Longest UTF-8 character, in bytes. */
const LONGEST_CHARACTER = 4

/** Makes `invalid_request` for a body that is not JSON, with line and column; `cause` is the scan's error. */
function invalidJson(bytes: Buffer, cause?: ScanError): GatewayError {
  if (cause?.reason.startsWith('expected an object'))
    return new GatewayError('invalid_request', `The body is not a JSON object: ${cause.message}.`, { cause })
  const { line, column, message } = locateJsonError(bytes)
  return new GatewayError(
    'invalid_request',
    `The body is not valid JSON at line ${line}, column ${column}: ${message}.`,
    { cause },
  )
}

/**
 * Returns the result of `read`. A wrong escape, which the scan of a large body has not seen, throws `invalid_request`
 * instead of an error that quotes the body.
 */
export function readJson<Value>(bytes: Buffer, read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    if (error instanceof SyntaxError) throw invalidJson(bytes)
    throw error instanceof ScanError ? invalidJson(bytes, error) : error
  }
}

/** Finds the first fault of a body that is not JSON, or that is nested deeper than the gateway accepts. */
export function locateJsonError(bytes: Buffer): JsonErrorLocation {
  const { position, reason } = firstFault(bytes)
  const before = bytes.subarray(0, position)
  const lineStart = before.lastIndexOf('\n') + 1
  return {
    position,
    line: countLines(before),
    column: before.toString('utf8', lineStart).length + 1,
    message: reason,
  }
}

function countLines(bytes: Buffer): number {
  let lines = 1
  for (let at = bytes.indexOf('\n'); at >= 0; at = bytes.indexOf('\n', at + 1)) lines++
  return lines
}

function firstFault(bytes: Buffer): ScanError {
  if (!isUtf8(bytes)) return new ScanError('a character is not UTF-8', firstInvalidUtf8(bytes))
  const text = bytes.toString('latin1')
  const structure = faultOf(() => checkStructure(text)) ?? new ScanError('no fault found', text.length)
  return faultOf(() => checkStrings(text, structure.position)) ?? structure
}

function faultOf(check: () => void): ScanError | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    if (error instanceof ScanError) return error
    throw error
  }
}

function checkStructure(text: string): void {
  const end = skipSpace(text, skipValue(text, skipSpace(text, 0), 0))
  if (end < text.length) throw unexpected(text, end, 'the end of the document')
}

/** Throws `ScanError` for the first fault inside a string before `limit`, up to which the structure must be sound. */
function checkStrings(text: string, limit: number): void {
  const sound = text.slice(0, limit)
  let open = sound.indexOf('"')
  while (open >= 0) open = sound.indexOf('"', checkString(sound, open + 1) + 1)
}

/** Returns the offset of the quote that closes the string whose content begins at `start`, or of the end of the text. */
function checkString(text: string, start: number): number {
  let at = start
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) return at
    if (code < FIRST_UNESCAPED) throw unexpected(text, at, 'control characters in a string to be escaped')
    at = code === BACKSLASH ? checkEscape(text, at) : at + 1
  }
  return at
}

/** Returns the offset after the escape whose backslash is at `start`. An escape cut by the text's end passes. */
function checkEscape(text: string, start: number): number {
  const at = start + 1
  if (at >= text.length || SHORT_ESCAPES.includes(text.charAt(at))) return at + 1
  if (text.charCodeAt(at) !== LOWER_U) throw unexpected(text, at, `one of ${SHORT_ESCAPES}u after a backslash`)
  const end = Math.min(at + 1 + HEX_DIGITS, text.length)
  for (let digit = at + 1; digit < end; digit++) {
    if (!HEX_DIGIT.test(text.charAt(digit))) throw unexpected(text, digit, 'four hexadecimal digits after \\u')
  }
  return end
}

/** Returns the byte offset of the first character that is not UTF-8. `bytes` must have one. */
export function firstInvalidUtf8(bytes: Buffer): number {
  let valid = 0
  let step = bytes.length
  while (step > 0) {
    const length = validLength(bytes.subarray(valid, valid + step))
    valid += length
    if (length === 0) step = step > LONGEST_CHARACTER ? Math.max(LONGEST_CHARACTER, step >> 1) : 0
  }
  return valid
}

/** Counts the bytes of `part` that are UTF-8, without a character that its end may cut in two; 0 when it has a fault. */
function validLength(part: Buffer): number {
  for (let length = part.length; length > 0 && length > part.length - LONGEST_CHARACTER; length--) {
    if (isUtf8(part.subarray(0, length))) return length
  }
  return 0
}
