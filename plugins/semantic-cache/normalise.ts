import { hash } from 'node:crypto'
import { hasInvisible } from './invisible.ts'

const SPACE = /\s+/g
/** White space means something in code, in quotations and in what is laid out. */
const LAID_OUT = /[`'"‘’“”„‚«»‹›「」]|\n\s*\S/

/** Longest text that is kept, in UTF-16 units: twice what a thousand words take. */
export const LONGEST_KEPT = 12_000
const DIGEST = 'sha256:'

/** Tells whether a text is kept as a digest: texts stay in memory, and a body may bring one of megabytes. */
export function isKeptAsDigest(text: string): boolean {
  // A text that looks like one is, too: none is taken for another's.
  return text.length > LONGEST_KEPT || text.startsWith(DIGEST)
}

/**
 * Returns what a text is looked up by: itself with single spaces.
 * Case and punctuation stay, for they can make another question: the guard judges those. A text with invisible characters
 * is looked up by itself, and one that is too long to be kept by its digest.
 */
export function normaliseText(text: string): string {
  if (isKeptAsDigest(text)) return DIGEST + hash('sha256', text)
  // Some of it counts as white space.
  if (hasInvisible(text)) return text
  const trimmed = text.trim()
  const normalised = LAID_OUT.test(trimmed) ? trimmed : trimmed.replace(SPACE, ' ')
  return normalised.length < text.length ? ownText(normalised) : normalised
}

/** The same text in memory of its own: what `trim` gives keeps all of the text alive that it was cut from. */
function ownText(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le')
}
