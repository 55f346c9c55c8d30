/**
 * DESIGN: upper bound on the tokens of a text, for any tokenizer. Tokenizers work on bytes: a token has at least one.
 * They have learnt all pairs of Latin letters and runs of spaces, so a token of those has at least two.
 */

/** Halves of a token that a byte of UTF-8 has at most: one for a letter or a space, else two. */
export const HALVES = new Uint8Array(256).fill(2)
for (const [from, to] of [
  ['a', 'z'],
  ['A', 'Z'],
  [' ', ' '],
] as const)
  HALVES.fill(1, from.charCodeAt(0), to.charCodeAt(0) + 1)

/** Returns an upper bound on the tokens of a text. */
export function tokenBound(text: string): number {
  let halves = 0
  // Safe: each byte has its place.
  for (const byte of Buffer.from(text)) halves += HALVES[byte] as number
  return Math.ceil(halves / 2)
}
