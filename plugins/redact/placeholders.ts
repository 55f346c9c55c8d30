/**
 * DESIGN — placeholders
 *
 *   REDACTED_EMAIL_7K2M9QX4T0RB      kind, then 60 bits of HMAC-SHA-256(key of the gateway; caller, conversation, kind, value)
 *
 * Capitals, digits and `_` only: one token-like name, which models copy whole, which needs no escape in JSON, in a string of
 * a program or in an address, and which is a valid name in most languages.
 * Guarantees: the same value has the same placeholder within a conversation, on every instance with the same key; another
 * caller's or conversation's differs, so providers cannot link them; without the key a value cannot be tested.
 * Nothing is stored: each request holds its originals, so the values to restore are those that were replaced in it.
 */
import { createHmac } from 'node:crypto'
import type { Kind } from './detect/finding.ts'

/** Begins every placeholder. */
export const PREFIX = 'REDACTED_'
/** Alphabet of Crockford's base 32: no letters that are read as digits. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const CHARACTERS = 12

/** The conversation in which placeholders are equal for equal values. */
export interface PlaceholderScope {
  readonly key: Buffer
  readonly caller: string
  readonly conversation: string
}

/** Makes the placeholders of one request, and remembers what they replace. */
export class Placeholders {
  /** Values by placeholder. */
  readonly values: Map<string, string> = new Map()
  readonly #made = new Map<string, string>()
  readonly #scope: PlaceholderScope

  constructor(scope: PlaceholderScope) {
    this.#scope = scope
  }

  /** Returns the placeholder of a value. Throws when two values have the same one. */
  of(kind: Kind, value: string): string {
    const known = this.#made.get(value)
    if (known !== undefined) return known
    const placeholder = `${PREFIX}${kind.toUpperCase()}_${this.#digest(kind, value)}`
    if (this.values.has(placeholder)) throw new Error('two values have the same placeholder')
    this.values.set(placeholder, value)
    this.#made.set(value, placeholder)
    return placeholder
  }

  #digest(kind: Kind, value: string): string {
    const { key, caller, conversation } = this.#scope
    // Lengths separate the parts: no two lists of parts are one text.
    const text = [caller, conversation, kind, value].map((part) => `${part.length}:${part}`).join('')
    const digest = createHmac('sha256', key).update(Buffer.from(text, 'utf16le')).digest()
    return Array.from(digest.subarray(0, CHARACTERS), (byte) => ALPHABET[byte % ALPHABET.length]).join('')
  }
}
