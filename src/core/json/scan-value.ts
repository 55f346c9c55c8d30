/**
 * DESIGN: walking over JSON values without parsing them.
 *
 * Purpose: the gateway forwards and edits the client's own bytes, so it needs the begin and end of a value, not its
 * meaning. The functions here take the document and the byte offset of a value and return the offset after it.
 *
 * The document is its bytes read as latin1 (`bytes.toString('latin1')`): one character is one byte, so every index is a byte
 * offset. V8 makes such a string in a few microseconds and searches it with memchr, which is why strings are skipped by
 * `indexOf('"')` and only the structure between them is read character by character:
 *
 *     {"role":"user","content":"a long text, \"quoted\" too"}
 *     ^^     ^^     ^^        ^^─────────────►┘───────►┘────►┘ an even number of backslashes before it: the end
 *
 * Guarantees: structure, numbers and literals are checked as strictly as JSON.parse does; the time is linear in the
 * length; nesting is bounded, and so is the recursion.
 * Limits: the content of a string literal is not checked: a wrong escape or a raw control character passes, and
 * `json-error.ts` finds it. Text taken out of the document is UTF-8 read as latin1: decode it before use.
 */

import { BodyFault } from './body-fault.ts'
import { ScanError, unexpected } from './scan-error.ts'
import { QUOTE, skipString } from './scan-string.ts'

/** A stretch of the document in byte offsets, `end` exclusive. */
export interface Range {
  start: number
  end: number
}

/** Deepest nesting of arrays and objects in a document, in levels. JSON.parse itself has no limit. */
export const MAX_DEPTH = 256

/**
 * Most values, members and elements, in a model request. A body of 32 MB may hold 16 million of them, and each would become
 * a JavaScript value of 60 bytes and more; the densest history of a million tokens has fewer than 100,000.
 */
const MOST_VALUES = 250_000

/** Counts the values of a document. */
export interface Tally {
  values: number
}

/** Counts one more value, which begins at byte `position`. Throws `BodyFault` for the one that is too many. */
export function count(tally: Tally, position: number): void {
  if (++tally.values > MOST_VALUES) throw new BodyFault(`expected at most ${MOST_VALUES} values in the body`, position)
}

/** Character codes of JSON's structure. */
export const OPEN_BRACKET = 91
export const CLOSE_BRACKET = 93
export const OPEN_BRACE = 123
export const CLOSE_BRACE = 125
export const LOWER_F = 102
export const LOWER_N = 110
export const LOWER_T = 116

const TAB = 9
const LINE_FEED = 10
const CARRIAGE_RETURN = 13
const SPACE = 32
const PLUS = 43
const COMMA = 44
const MINUS = 45
const DOT = 46
const ZERO = 48
const NINE = 57
const COLON = 58
const UPPER_E = 69
const LOWER_E = 101

/** Returns the byte offset of the first byte at or after `start` that is not white space. */
export function skipSpace(text: string, start: number): number {
  let at = start
  for (;;) {
    const code = text.charCodeAt(at)
    if (code > SPACE || !isSpace(code)) return at
    at++
  }
}

function isSpace(code: number): boolean {
  return code === SPACE || code === LINE_FEED || code === CARRIAGE_RETURN || code === TAB
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE
}

/**
 * Returns the byte offset after the value at `start`, with `depth` levels around it. `tally` counts the values inside.
 * Throws `ScanError`.
 */
export function skipValue(text: string, start: number, depth: number, tally?: Tally): number {
  switch (text.charCodeAt(start)) {
    case QUOTE:
      return skipString(text, start)
    case OPEN_BRACE:
      return skipObject(text, start, depth, tally)
    case OPEN_BRACKET:
      return skipArray(text, start, depth, tally)
    case LOWER_T:
      return skipLiteral(text, start, 'true')
    case LOWER_F:
      return skipLiteral(text, start, 'false')
    case LOWER_N:
      return skipLiteral(text, start, 'null')
    default:
      return skipNumber(text, start)
  }
}

function skipObject(text: string, start: number, depth: number, tally: Tally | undefined): number {
  assertDepth(depth, start)
  let at = skipSpace(text, start + 1)
  if (text.charCodeAt(at) === CLOSE_BRACE) return at + 1
  for (;;) {
    if (tally !== undefined) count(tally, at)
    const end = skipValue(text, skipColon(text, skipKey(text, at)), depth + 1, tally)
    at = nextMember(text, end)
    if (at < 0) return -at
  }
}

function skipArray(text: string, start: number, depth: number, tally: Tally | undefined): number {
  assertDepth(depth, start)
  let at = skipSpace(text, start + 1)
  if (text.charCodeAt(at) === CLOSE_BRACKET) return at + 1
  for (;;) {
    if (tally !== undefined) count(tally, at)
    at = nextElement(text, skipValue(text, at, depth + 1, tally))
    if (at < 0) return -at
  }
}

/** Throws `ScanError` when an array or object at byte `start`, with `depth` levels around it, is nested too deep. */
export function assertDepth(depth: number, start: number): void {
  if (depth >= MAX_DEPTH) throw new ScanError(`nesting deeper than ${MAX_DEPTH} levels`, start)
}

/** Returns the byte offset after the key whose opening quote must be at `start`. Throws `ScanError`. */
export function skipKey(text: string, start: number): number {
  if (text.charCodeAt(start) !== QUOTE) throw unexpected(text, start, 'a key in double quotes')
  return skipString(text, start)
}

/** Returns the byte offset of the value after the colon, which may have white space around it. Throws `ScanError`. */
export function skipColon(text: string, keyEnd: number): number {
  // Here and below: the first line is the fast path through a compact document, without a call.
  if (text.charCodeAt(keyEnd) === COLON && text.charCodeAt(keyEnd + 1) > SPACE) return keyEnd + 1
  const colon = skipSpace(text, keyEnd)
  if (text.charCodeAt(colon) !== COLON) throw unexpected(text, colon, "':' after a key")
  return skipSpace(text, colon + 1)
}

/**
 * Returns, after a member's value, the byte offset of the next key, or, where the object ends, minus the offset after its
 * brace. Throws `ScanError`.
 */
export function nextMember(text: string, valueEnd: number): number {
  if (text.charCodeAt(valueEnd) === COMMA && text.charCodeAt(valueEnd + 1) === QUOTE) return valueEnd + 1
  const at = skipSpace(text, valueEnd)
  const code = text.charCodeAt(at)
  if (code === COMMA) return skipSpace(text, at + 1)
  if (code === CLOSE_BRACE) return -(at + 1)
  throw unexpected(text, at, "',' or '}'")
}

/**
 * Returns, after an element, the byte offset of the next element, or, where the array ends, minus the offset after its
 * bracket. Throws `ScanError`.
 */
export function nextElement(text: string, valueEnd: number): number {
  if (text.charCodeAt(valueEnd) === COMMA && text.charCodeAt(valueEnd + 1) > SPACE) return valueEnd + 1
  const at = skipSpace(text, valueEnd)
  const code = text.charCodeAt(at)
  if (code === COMMA) return skipSpace(text, at + 1)
  if (code === CLOSE_BRACKET) return -(at + 1)
  throw unexpected(text, at, "',' or ']'")
}

function skipLiteral(text: string, start: number, literal: string): number {
  for (let i = 1; i < literal.length; i++) {
    if (text.charCodeAt(start + i) !== literal.charCodeAt(i)) throw unexpected(text, start + i, `'${literal}'`)
  }
  return start + literal.length
}

function skipNumber(text: string, start: number): number {
  const digits = text.charCodeAt(start) === MINUS ? start + 1 : start
  let at = digits
  if (text.charCodeAt(digits) === ZERO) at++
  else at = skipDigits(text, digits, digits === start ? 'a value' : 'a digit')
  if (text.charCodeAt(at) === DOT) at = skipDigits(text, at + 1, 'a digit')
  const exponent = text.charCodeAt(at)
  if (exponent !== LOWER_E && exponent !== UPPER_E) return at
  const sign = text.charCodeAt(at + 1)
  return skipDigits(text, sign === PLUS || sign === MINUS ? at + 2 : at + 1, 'a digit')
}

function skipDigits(text: string, start: number, expected: string): number {
  if (!isDigit(text.charCodeAt(start))) throw unexpected(text, start, expected)
  let at = start + 1
  while (isDigit(text.charCodeAt(at))) at++
  return at
}
