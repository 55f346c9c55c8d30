import { hash } from 'node:crypto'
import type { Entry } from '../entry.ts'

/**
 * DESIGN — what is known of a scope
 *
 * Facts that may arrive in any order, and twice, and always come to the same:
 *
 *   entry    a text leads to a reply     of two with one text the later one counts; an alias is an entry with the id of another
 *   removal  a reply is not to be given  whatever entries of it come, before or after, are not taken
 *   block    two texts are not alike     until it expires
 *
 * So processes need not agree on an order, and one that has missed some loads the scope again.
 */
export type Fact =
  | { readonly kind: 'entry'; readonly entry: Entry; readonly vector: Int8Array | undefined }
  | { readonly kind: 'removal'; readonly id: string; readonly expiresAtMs: number }
  | { readonly kind: 'block'; readonly key: string; readonly expiresAtMs: number }

/** A fact as engines keep it: a later one with the same key takes the place of the earlier. */
export interface PackedFact {
  readonly key: string
  readonly value: Uint8Array
  readonly expiresAtMs: number
}

const LENGTH_BYTES = 4
const KEY_CHARACTERS = 22

/** Packs a fact: its length, it as JSON, the vector's bytes. */
export function packFact(fact: Fact): PackedFact {
  const { vector, ...rest } = { vector: undefined, ...fact }
  const json = Buffer.from(JSON.stringify(rest))
  const value = Buffer.allocUnsafeSlow(LENGTH_BYTES + json.length + (vector?.length ?? 0))
  value.writeUInt32LE(json.length)
  json.copy(value, LENGTH_BYTES)
  if (vector !== undefined) value.set(bytesOf(vector), LENGTH_BYTES + json.length)
  return { key: keyOf(fact), value, expiresAtMs: expiryOf(fact) }
}

/** The fact that was packed, its vector a view of the same bytes; `undefined` for anything else. */
export function unpackFact(value: Uint8Array): Fact | undefined {
  try {
    const bytes = Buffer.from(value.buffer, value.byteOffset, value.length)
    const vectorAt = LENGTH_BYTES + bytes.readUInt32LE()
    const fact = JSON.parse(bytes.toString('utf8', LENGTH_BYTES, vectorAt))
    if (fact.kind !== 'entry') return fact
    const length = value.length - vectorAt
    if (length < 0) return undefined
    return {
      ...fact,
      vector: length === 0 ? undefined : new Int8Array(value.buffer, value.byteOffset + vectorAt, length),
    }
  } catch {
    return undefined
  }
}

/** The key of an entry: one of the same text with another reply has another, for either may be removed. */
export function entryKey({ text, id }: Pick<Entry, 'text' | 'id'>): string {
  return `e${hash('sha256', Buffer.from(`${id} ${text}`, 'utf16le'), 'base64url').slice(0, KEY_CHARACTERS)}`
}

function keyOf(fact: Fact): string {
  switch (fact.kind) {
    case 'entry':
      return entryKey(fact.entry)
    case 'removal':
      return `r${fact.id}`
    case 'block':
      return `b${fact.key}`
  }
}

/** When a fact may be forgotten. */
export function expiryOf(fact: Fact): number {
  return fact.kind === 'entry' ? fact.entry.expiresAtMs : fact.expiresAtMs
}

function bytesOf({ buffer, byteOffset, byteLength }: Int8Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}
