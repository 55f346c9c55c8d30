import { hash } from 'node:crypto'

/** Removals and blocks of one scope at most; what was learned longest ago goes first. */
const MOST_REMOVALS = 1000
const MOST_BLOCKS = 10_000

/** About the memory of one, in bytes. */
const LESSON_BYTES = 120

/** A text, and the reply that does not answer it. */
export interface BlockedPair {
  readonly text: string
  readonly id: string
}

/** The key of a block. */
export function blockKey({ text, id }: BlockedPair): string {
  return hash('sha256', Buffer.from(`${id} ${text}`, 'utf16le'), 'base64url').slice(0, 22)
}

/** What was found wrong in a scope. */
export class Lessons {
  /** Ids of replies that are not to be given, and when that may be forgotten. */
  readonly #removals = new Map<string, number>()
  /** Pairs of texts and replies that do not belong together, likewise. */
  readonly #blocks = new Map<string, number>()

  /** About how much memory they take, in bytes. */
  get bytes(): number {
    return (this.#removals.size + this.#blocks.size) * LESSON_BYTES
  }

  isRemoved(id: string): boolean {
    return this.#removals.has(id)
  }

  /** A reply is not to be given any more. */
  remove({ id, expiresAtMs }: { id: string; expiresAtMs: number }): void {
    keepLast(this.#removals, id, { expiresAtMs, limit: MOST_REMOVALS })
  }

  /** Whether it was found that this reply does not answer this text. */
  isBlocked(pair: BlockedPair, nowMs: number): boolean {
    return this.#blocks.size > 0 && (this.#blocks.get(blockKey(pair)) ?? 0) > nowMs
  }

  /** A reply does not answer a text; whether that is news. */
  block({ key, expiresAtMs }: { key: string; expiresAtMs: number }): boolean {
    if (this.#blocks.get(key) === expiresAtMs) return false
    keepLast(this.#blocks, key, { expiresAtMs, limit: MOST_BLOCKS })
    return true
  }
}

function keepLast(
  map: Map<string, number>,
  key: string,
  { expiresAtMs, limit }: { expiresAtMs: number; limit: number },
): void {
  map.delete(key)
  map.set(key, expiresAtMs)
  const [oldest] = map.keys()
  if (map.size > limit && oldest !== undefined) map.delete(oldest)
}
