import { classOfCodeUnit, ESCAPE, JSON_CLASSES, NEWLINE, PUNCTUATION, TAB, TEXT_CLASSES } from './byte-classes.ts'
import { START, STATE_MASK, stepsByState, WEIGHT_SHIFT } from './weights.ts'

const LOWER_N = 110
const LOWER_R = 114
const LOWER_T = 116
const LOWER_U = 117
const HEX_DIGITS = 4
const HEX = 16

/** Most bytes that are summed as a 32-bit integer: no weight is above 250, so the sum stays below 2^31. */
const BLOCK_BYTES = 4 * 1024 * 1024

/** Returns the weight of UTF-8 text, in hundredths of a token before calibration. */
export function unitsOfText(bytes: Uint8Array): number {
  return walk(bytes, { classes: TEXT_CLASSES, start: 0, end: bytes.length })
}

/**
 * Returns the weight of raw JSON from byte `start` to `end`, the inside of a string or a whole value: escapes count as
 * their characters, the rest as text. In hundredths of a token before calibration.
 */
export function unitsOfJson(bytes: Uint8Array, start: number, end: number): number {
  return walk(bytes, { classes: JSON_CLASSES, start, end })
}

interface Stretch {
  readonly classes: Uint8Array
  readonly start: number
  readonly end: number
}

/**
 * Hazard: the inner loop must stay the innermost, without a call in it, and add integers. V8 keeps its variables in
 * registers only then; with the escapes read inside, it takes two and a half times as long.
 */
function walk(bytes: Uint8Array, { classes, start, end }: Stretch): number {
  const steps = stepsByState()
  let total = 0
  let state = START
  let at = start
  while (at < end) {
    const blockEnd = Math.min(at + BLOCK_BYTES, end)
    let units = 0
    for (; at < blockEnd; at++) {
      // Here and below, safe: every byte has a class, and every state and class have a step.
      const byteClass = classes[bytes[at]!]!
      if (byteClass === ESCAPE) break
      const step = steps[state | byteClass]!
      state = step & STATE_MASK
      units = (units + (step >> WEIGHT_SHIFT)) | 0
    }
    total += units
    if (at === blockEnd) continue
    const step = steps[state | classOfEscape(bytes, at + 1)]!
    state = step & STATE_MASK
    total += step >> WEIGHT_SHIFT
    at += bytes[at + 1] === LOWER_U ? 2 + HEX_DIGITS : 2
  }
  return total
}

/** Returns the class of the character whose escape continues at byte `at`, after the backslash. */
function classOfEscape(bytes: Uint8Array, at: number): number {
  switch (bytes[at]) {
    case LOWER_N:
    case LOWER_R:
      return NEWLINE
    case LOWER_T:
      return TAB
    case LOWER_U:
      return classOfCodeUnit(readHex(bytes, at + 1))
    default:
      // A quote, a slash, a backslash; the rare \b and \f weigh little either way.
      return PUNCTUATION
  }
}

/** Reads the code unit of four hexadecimal digits. Others give any value: a body with wrong escapes is refused elsewhere. */
function readHex(bytes: Uint8Array, start: number): number {
  let code = 0
  for (let at = start; at < start + HEX_DIGITS; at++) {
    const byte = bytes[at] ?? 0
    // '0'–'9' end in their value; the letters of both cases end in 1 for ten.
    code = code * HEX + (byte & 15) + (byte > 57 ? 9 : 0)
  }
  return code
}
