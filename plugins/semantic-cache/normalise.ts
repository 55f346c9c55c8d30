import { hasInvisible } from './invisible.ts'

const SPACE = /\s+/g
/** White space means something in code and in what is laid out. */
const LAID_OUT = /`|\n\s*\S/

/**
 * What a text is looked up by, so that texts which say the same to the letter are one: composed letters, single spaces.
 * Case and punctuation stay, for they can make another question: the guard judges those. A text with invisible characters
 * is looked up by itself.
 */
export function normaliseText(text: string): string {
  // Some of it counts as white space.
  if (hasInvisible(text)) return text
  const trimmed = text.normalize('NFC').trim()
  return LAID_OUT.test(trimmed) ? trimmed : trimmed.replace(SPACE, ' ')
}
