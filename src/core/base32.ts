/** Digits of Crockford's base 32: they sort by value and include no letters that look like digits. */
export const BASE32_DIGITS = '0123456789abcdefghjkmnpqrstvwxyz'
const BITS = 5

/** Prints bytes in Crockford's base 32; up to 4 bits at the end that fill no digit are left out. */
export function printBase32(bytes: Uint8Array): string {
  let text = ''
  let bits = 0
  let width = 0
  for (const byte of bytes) {
    bits = (bits << 8) | byte
    width += 8
    for (; width >= BITS; width -= BITS) text += BASE32_DIGITS.charAt((bits >> (width - BITS)) & 31)
    bits &= (1 << width) - 1
  }
  return text
}
