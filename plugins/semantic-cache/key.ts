import { hash } from 'node:crypto'

/** Length of an entry's id. */
export const ENTRY_CHARACTERS = 12

/** Returns the key of the answer to a text in a scope: a SHA-256 over both. */
export function keyOf(scope: string, form: string): string {
  return hash('sha256', Buffer.from(`${scope} ${form}`, 'utf16le'), 'base64url')
}

/** Returns the id of an entry for callers and operators: the beginning of its key. */
export function entryOf(key: string): string {
  return key.slice(0, ENTRY_CHARACTERS)
}
