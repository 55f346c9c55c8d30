import { hash } from 'node:crypto'

/** About the memory of an entry beside its text and vector: objects, places in maps, the id. Measured on Node 26: 210. */
const ENTRY_BYTES = 220
/** V8 keeps a text with one such character as two bytes a character. */
const WIDE = /[^\0-\xff]/

/** A text that was answered. */
export interface Entry {
  /** Names the reply in the store. */
  readonly id: string
  readonly text: string
  readonly storedAtMs: number
  /** When it was found that the text leads to this reply too, for an alias. */
  readonly learnedAtMs?: number
  readonly expiresAtMs: number
}

/** About the memory of an entry in bytes, without its vector. */
export function entryBytes({ text }: Entry): number {
  return ENTRY_BYTES + text.length * (WIDE.test(text) ? 2 : 1)
}

/**
 * A label in the graph, the same in every run: two that share one by chance cost a candidate, no mistake. Of 31 bits, for
 * those need no memory of their own.
 */
export function labelOf({ id, text }: Entry): number {
  return hash('sha1', Buffer.from(`${id} ${text}`, 'utf16le'), 'buffer').readUInt32LE() >>> 1
}

/** Whether both lead from one text to one reply. */
export function isSame(one: Entry, other: Entry): boolean {
  return one.id === other.id && one.text === other.text
}

/** Whether `known` is to be kept: it is the later one of two with the same text. */
export function isLater(known: Entry, entry: Entry): boolean {
  const [knownAtMs, entryAtMs] = [learnedAt(known), learnedAt(entry)]
  return knownAtMs === entryAtMs ? known.id > entry.id : knownAtMs > entryAtMs
}

function learnedAt({ storedAtMs, learnedAtMs = storedAtMs }: Entry): number {
  return learnedAtMs
}
