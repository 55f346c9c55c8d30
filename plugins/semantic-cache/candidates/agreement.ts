/** Matches chunks with a digit, a symbol or a quotation: a difference there changes the question. */
const HARD = /\S*[\p{N}\p{S}`"“”«»_/\\@#%&*]\S*/gu
const NEGATION = /\b(?:not|no|never|none|without|cannot)\b|n['’]t\b/gi
const CLOSING = /[.,;:?!]+$/u

/**
 * Tests that two texts have the same numbers, symbols and quotations, and as many negations: vectors do not see these.
 */
export function agree(one: string, other: string): boolean {
  return hardParts(one) === hardParts(other) && countOf(one, NEGATION) === countOf(other, NEGATION)
}

function hardParts(text: string): string {
  const parts = text.match(HARD) ?? []
  return parts
    .map((part) => part.replace(CLOSING, '').toLowerCase())
    .sort()
    .join(' ')
}

function countOf(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}
