const COUNTS = new Uint16Array(128)
const DIGIT = /\d/
const LETTER = /[A-Za-z]/
const CHANGES = /[a-z](?=[^a-z])|[A-Z](?=[^A-Z])|\d(?=\D)/g
/** Least share of characters that differ in class from the next one: names have less, hexadecimal digits 0.47. */
const LEAST_CHANGES = 0.18
const LEAST_BITS = 2.9

/** Shannon entropy of a text in bits per character; characters outside of ASCII count as one. */
function bitsPerCharacter(text: string): number {
  COUNTS.fill(0)
  for (let i = 0; i < text.length; i++) {
    const code = Math.min(text.charCodeAt(i), 127)
    COUNTS[code] = (COUNTS[code] ?? 0) + 1
  }
  let bits = 0
  for (const count of COUNTS) if (count > 0) bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}

/** Tests for a random-looking value: digits and letters that alternate often, with few repetitions. */
export function looksRandom(value: string): boolean {
  if (!DIGIT.test(value) || !LETTER.test(value)) return false
  const changes = value.match(CHANGES)?.length ?? 0
  return changes / value.length >= LEAST_CHANGES && bitsPerCharacter(value) >= LEAST_BITS
}
