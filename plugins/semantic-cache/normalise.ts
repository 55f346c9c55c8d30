import { hash } from 'node:crypto'
import { hasInvisible } from './invisible.ts'

const SPACE = /\s+/g
/** Matches layouts in which white space is significant: code, quotations, several lines. */
const LAID_OUT = /[`'"‘’“”„‚«»‹›「」]|\n\s*\S/

/** Longest stored text, in UTF-16 units: twice the size of a thousand words. */
export const LONGEST_KEPT = 12_000
const DIGEST = 'sha256:'

/** Tests for a text that is stored as a digest: texts stay in memory, and a body may contain one of megabytes. */
export function isKeptAsDigest(text: string): boolean {
  // A text in the form of a digest is digested too, so that it cannot collide with one.
  return text.length > LONGEST_KEPT || text.startsWith(DIGEST)
}

/**
 * Returns the text for look-ups, with single spaces. Case and punctuation are unchanged, since they can make another
 * question: the guard decides on those. A text with invisible characters is unchanged, and one too long to store
 * becomes its digest.
 */
export function normaliseText(text: string): string {
  if (isKeptAsDigest(text)) return DIGEST + hash('sha256', text)
  // Some invisible characters count as white space.
  if (hasInvisible(text)) return text
  const trimmed = text.trim()
  const normalised = LAID_OUT.test(trimmed) ? trimmed : trimmed.replace(SPACE, ' ')
  return normalised.length < text.length ? ownText(normalised) : normalised
}

/** Copies a text: the result of `trim` would keep the whole original in memory. */
function ownText(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le')
}
