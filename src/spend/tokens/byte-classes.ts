/** Classes of UTF-8 bytes for a tokenizer. The numbers are columns of the tables in `weights.ts`. */
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
/** First byte of a four-byte character. */
export const EMOJI = 13
/** A continuation byte, 80 to AF; it weighs nothing by itself, except after some first bytes. */
export const CONTINUATION = 14
export const CONTROL = 15
/** A continuation byte, B0 to B9. */
export const CONTINUATION_B0 = 16
/** A continuation byte, BA to BF. */
export const CONTINUATION_BA = 17
export const TAB = 18
/** First byte of a letter of an alphabet of two bytes that tokenizers split into bytes. */
export const RARE_ALPHABET = 19
/** First byte of a three-byte character that tokenizers split into bytes. */
export const RARE_SIGN = 20
/** First byte of a Korean syllable, or of a character of Yi, Vai and other rare scripts: the next byte decides. */
export const HANGUL_OR_RARE = 21
/** The second half of a surrogate pair, in an escape. */
export const LOW_SURROGATE = 22
/** Columns of a table: a power of two, since states and classes share an index. */
export const CLASSES = 32
/** A backslash in JSON: the next characters determine the escaped one. No column. */
export const ESCAPE = 32

const BYTES = 256
const BACKSLASH = 92

/** Last byte (inclusive) of each range of bytes of one class, in order. */
const STRETCHES: readonly (readonly [last: number, byteClass: number])[] = [
  [0x08, CONTROL],
  [0x09, TAB],
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
  [0xaf, CONTINUATION],
  [0xb9, CONTINUATION_B0],
  [0xbf, CONTINUATION_BA],
  [0xcc, LATIN],
  [0xd1, ALPHABET],
  [0xd5, RARE_ALPHABET],
  [0xdb, ALPHABET],
  [0xdf, RARE_ALPHABET],
  [0xe0, INDIC],
  [0xe2, SYMBOL],
  [0xe9, IDEOGRAPH],
  [0xea, HANGUL_OR_RARE],
  [0xed, HANGUL],
  [0xee, RARE_SIGN],
  [0xef, FULL_WIDTH],
  [0xff, EMOJI],
]

/** Last code point (inclusive) of each range beyond ASCII that begins with bytes of one class. */
const CODE_POINTS: readonly (readonly [last: number, byteClass: number])[] = [
  [0x33f, LATIN],
  [0x47f, ALPHABET],
  [0x57f, RARE_ALPHABET],
  [0x6ff, ALPHABET],
  [0x7ff, RARE_ALPHABET],
  [0xe7f, INDIC],
  [0xfff, RARE_SIGN],
  [0x2fff, SYMBOL],
  [0x9fff, IDEOGRAPH],
  [0xabff, RARE_SIGN],
  [0xd7ff, HANGUL],
  [0xdbff, EMOJI],
  [0xdfff, LOW_SURROGATE],
  [0xefff, RARE_SIGN],
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

/** Classes of blocks of 64 code units: all ranges beyond ASCII end with a block. A text may have millions of escapes. */
const BLOCK_BITS = 6
const BLOCK_CLASSES = Uint8Array.from({ length: 0x10000 >> BLOCK_BITS }, (_, block) => {
  const code = block << BLOCK_BITS
  return CODE_POINTS.find(([last]) => code <= last)?.[1] ?? FULL_WIDTH
})

/** Returns the class of the first byte of a UTF-16 code unit's character. */
export function classOfCodeUnit(code: number): number {
  return (code < 0x80 ? TEXT_CLASSES[code] : BLOCK_CLASSES[code >> BLOCK_BITS]) ?? FULL_WIDTH
}
