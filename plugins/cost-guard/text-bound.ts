/**
 * DESIGN: upper bound on the tokens of a text, for any tokenizer. Tokenizers work on bytes: a token has at least one.
 * They have learnt all pairs of Latin letters and runs of spaces, so a token of those has at least two.
 */
const LETTER_OR_SPACE = new Uint8Array(256)
for (const [from, to] of [
  ['a', 'z'],
  ['A', 'Z'],
  [' ', ' '],
] as const)
  LETTER_OR_SPACE.fill(1, from.charCodeAt(0), to.charCodeAt(0) + 1)

/** Returns an upper bound on the tokens of a text. */
export function tokenBound(text: string): number {
  let halves = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    // A character beyond ASCII has two or three bytes in UTF-8; half of a surrogate pair has two of four.
    if (code > 127) halves += code > 0x7ff ? 6 : 4
    else halves += LETTER_OR_SPACE[code] === 1 ? 1 : 2
  }
  return Math.ceil(halves / 2)
}
