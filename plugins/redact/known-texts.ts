import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Finding } from './detect/finding.ts'
import type { Scan } from './detect/scan.ts'

const MOST_TEXTS = 20_000
const MOST_FINDINGS = 100_000
/** Shorter texts are scanned faster than they are hashed and looked up. */
const SHORTEST = 512

/**
 * Findings in texts of earlier turns, which each turn of a conversation repeats: hashing is ten times faster than a scan.
 * It holds digests and offsets alone, no text and no value. A digest includes the caller and the kinds, so callers
 * share nothing. At most 20,000 texts with 100,000 findings, about 10 MB; the least recently used are evicted.
 */
export class KnownTexts {
  readonly #findings = new LRUCache<string, readonly Finding[]>({
    // Not the option `max`, which allocates for all of them at once.
    maxSize: MOST_FINDINGS,
    sizeCalculation: ({ length }) => Math.max(length, MOST_FINDINGS / MOST_TEXTS),
  })

  /** Returns a scan that remembers; `scope` names the caller and the kinds. */
  remembering(scan: Scan, scope: string): Scan {
    const prefix = `${scope.length}:${scope}`
    return (text) => {
      // A digest is of UTF-8, in which lone surrogates are equal.
      if (text.length < SHORTEST || !text.isWellFormed()) return scan(text)
      const digest = hash('sha256', prefix + text, 'base64')
      const known = this.#findings.get(digest)
      if (known !== undefined) return known
      const found = scan(text)
      this.#findings.set(digest, found)
      return found
    }
  }
}
