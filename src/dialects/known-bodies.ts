import { LRUCache } from 'lru-cache'
import { compactCopy } from '../core/reply/compact-copy.ts'
import { RequestDocument } from '../core/request/request.ts'

/**
 * DESIGN — bodies seen before
 *
 * Clients repeat the same bytes: retries, polling agents, test suites. Comparing 300 KB takes
 * 3 µs, scanning and hashing them a hundred times that. So a repeated body is recognised by its bytes, and the results of
 * its analysis (that it is valid, where its fields are, its cache key) are used again.
 *
 * Guarantees: two bodies are the same only if every byte is; nothing but the results of the analysis is shared.
 * Limits: at its first occurrence only a body's fingerprint is kept, so traffic that never repeats keeps nothing else.
 */
const MOST_FINGERPRINTS = 1024
const MOST_BYTES = 32 * 1024 * 1024
/** A body that alone would take much of that is parsed again. */
const LONGEST_KEPT_BYTES = 4 * 1024 * 1024
const FINGERPRINT_BYTES = 24

/** A body: seen once, or known with the results of its analysis. */
type Sighting = 'once' | RequestDocument

/** Recognises repeated bodies. */
export class KnownBodies {
  readonly #sightings = new LRUCache<string, Sighting>({
    max: MOST_FINGERPRINTS,
    maxSize: MOST_BYTES,
    maxEntrySize: LONGEST_KEPT_BYTES,
    sizeCalculation: (sighting) => (sighting === 'once' ? 1 : sighting.bytes.length),
  })

  /** Returns the document of the same bytes, with values of its own; otherwise the result of `parse`. */
  recognise(bytes: Buffer, parse: (bytes: Buffer) => RequestDocument): RequestDocument {
    const fingerprint = fingerprintOf(bytes)
    const sighting = this.#sightings.get(fingerprint)
    if (sighting instanceof RequestDocument && sighting.bytes.equals(bytes)) {
      return new RequestDocument(sighting.bytes, sighting.shape)
    }
    const document = parse(bytes)
    this.#sightings.set(fingerprint, sighting === undefined ? 'once' : ownCopy(document))
    return document
  }
}

/** Returns a fingerprint: length, a piece of the middle and one of the end, where bodies of one conversation differ. Only a hint. */
function fingerprintOf(bytes: Buffer): string {
  const middle = bytes.length >> 1
  const end = bytes.length - FINGERPRINT_BYTES
  return `${bytes.length} ${bytes.toString('latin1', middle, middle + 8)} ${bytes.toString('latin1', Math.max(end, 0))}`
}

/** Copies the bytes and their shape, without the parsed values, which take many times as much memory. */
function ownCopy({ bytes, shape }: RequestDocument): RequestDocument {
  return new RequestDocument(compactCopy(bytes), shape)
}
