/** What a byte of UTF-8 is to a tokenizer. The numbers are columns of the tables in `weights.ts`. */
export const LOWER = 0
export const UPPER = 1
export const DIGIT = 2
export const SPACE = 3
export const NEWLINE = 4
export const PUNCTUATION = 5
/** First byte of a Latin letter beyond ASCII, as é. */
export const LATIN = 6
/** First byte of a letter of Greek, Cyrillic, Hebrew, Arabic: two bytes each. */
export const ALPHABET = 7
/** First byte of a letter of an Indic script or Thai. */
export const INDIC = 8
/** First byte of typographic signs, arrows, frames. */
export const SYMBOL = 9
/** First byte of a Chinese sign or a Japanese one. */
export const IDEOGRAPH = 10
/** First byte of a Korean syllable. */
export const HANGUL = 11
/** First byte of full-width forms and private signs. */
export const FULL_WIDTH = 12
/** First byte of a sign of four bytes. */
export const EMOJI = 13
/** A further byte of a sign; it costs nothing of its own. */
export const CONTINUATION = 14
export const CONTROL = 15
/** Columns of a table. */
export const CLASSES = 16
/** A backslash in JSON: what follows says which character it stands for. No column. */
export const ESCAPE = 16

const BYTES = 256
const BACKSLASH = 92

/** Last byte (inclusive) of each stretch of bytes of one class, in order. */
const STRETCHES: readonly (readonly [last: number, byteClass: number])[] = [
  [0x08, CONTROL],
  [0x09, SPACE],
  [0x0a, NEWLINE],
  [0x0c, CONTROL],
  [0x0d, NEWLINE],
  [0x1f, CONTROL],
  [0x20, SPACE],
  [0x2f, PUNCTUATION],
  [0x39, DIGIT],
  [0x40, PUNCTUATION],
  [0x5a, UPPER],
  [0x60, PUNCTUATION],
  [0x7a, LOWER],
  [0x7e, PUNCTUATION],
  [0x7f, CONTROL],
  [0xbf, CONTINUATION],
  [0xcc, LATIN],
  [0xdf, ALPHABET],
  [0xe0, INDIC],
  [0xe2, SYMBOL],
  [0xe9, IDEOGRAPH],
  [0xed, HANGUL],
  [0xef, FULL_WIDTH],
  [0xff, EMOJI],
]

/** Last code point (inclusive) of each stretch beyond ASCII that begins with bytes of one class. */
const CODE_POINTS: readonly (readonly [last: number, byteClass: number])[] = [
  [0x33f, LATIN],
  [0x7ff, ALPHABET],
  [0xfff, INDIC],
  [0x2fff, SYMBOL],
  [0x9fff, IDEOGRAPH],
  [0xd7ff, HANGUL],
  // The halves of a surrogate pair are one sign.
  [0xdbff, EMOJI],
  [0xdfff, CONTINUATION],
]

/** Classes of the bytes of plain text. */
export const TEXT_CLASSES = createClasses()

/** Classes of the bytes of raw JSON: a backslash begins an escape. */
export const JSON_CLASSES = Uint8Array.from(TEXT_CLASSES, (byteClass, byte) =>
  byte === BACKSLASH ? ESCAPE : byteClass,
)

function createClasses(): Uint8Array {
  const classes = new Uint8Array(BYTES)
  let byte = 0
  for (const [last, byteClass] of STRETCHES) {
    while (byte <= last) classes[byte++] = byteClass
  }
  return classes
}

/** The class of the first byte of a UTF-16 code unit's character. */
export function classOfCodeUnit(code: number): number {
  if (code < 0x80) return TEXT_CLASSES[code] ?? PUNCTUATION
  return CODE_POINTS.find(([last]) => code <= last)?.[1] ?? FULL_WIDTH
}
