/** Classes of ASCII characters, as bits; all other characters have none. */
export const DIGIT = 1
export const LOWER = 2
export const UPPER = 4
/** `_` and `-`, which names and keys have between their parts. */
const JOINER = 8
export const WORD: number = DIGIT | LOWER | UPPER | JOINER
export const ALPHANUMERIC: number = DIGIT | LOWER | UPPER

const ASCII = 128
const ALL_CODES = 65_536
const CLASSES = createClasses()

function createClasses(): Uint8Array {
  const classes = new Uint8Array(ALL_CODES)
  for (let code = 0; code < ASCII; code++) {
    const character = String.fromCharCode(code)
    if (/[0-9]/.test(character)) classes[code] = DIGIT
    else if (/[a-z]/.test(character)) classes[code] = LOWER
    else if (/[A-Z]/.test(character)) classes[code] = UPPER
    else if (/[_-]/.test(character)) classes[code] = JOINER
  }
  return classes
}

/** Returns the class of a character code; 0 for NaN, which is the code behind the end of a text. */
export function classOf(code: number): number {
  return CLASSES[code] ?? 0
}

/** Tests for a letter or digit of ASCII at an offset, which may be outside of the text. */
export function isAlphanumericAt(text: string, at: number): boolean {
  return at >= 0 && (classOf(text.charCodeAt(at)) & ALPHANUMERIC) !== 0
}
