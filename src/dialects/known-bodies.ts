import { LRUCache } from 'lru-cache'
import { compactCopy } from '../core/reply/compact-copy.ts'
import { RequestDocument } from '../core/request/request.ts'

/**
 * DESIGN — bodies seen before
 *
 * Clients that repeat themselves send the same bytes again: retries, polling agents, test suites. Comparing 300 KB takes
 * 3 µs, scanning and hashing them a hundred times that. So a body that comes again is recognised by its bytes, and what
 * was found out about them (that they are valid, where their fields are, their cache key) is used again.
 *
 * Guarantees: two bodies are the same only if every byte is; nothing but facts about the bytes is shared.
 * Limits: the first time a body comes only its fingerprint is kept, so traffic that never repeats keeps nothing else.
 */
const MOST_FINGERPRINTS = 1024
const MOST_BYTES = 32 * 1024 * 1024
/** A body of which one alone would take much of that is read again. */
const LONGEST_KEPT_BYTES = 4 * 1024 * 1024
const FINGERPRINT_BYTES = 24

/** A body: seen once, or known with what was found out about it. */
type Sighting = 'once' | RequestDocument

/** Recognises bodies that come again. */
export class KnownBodies {
  readonly #sightings = new LRUCache<string, Sighting>({
    max: MOST_FINGERPRINTS,
    maxSize: MOST_BYTES,
    maxEntrySize: LONGEST_KEPT_BYTES,
    sizeCalculation: (sighting) => (sighting === 'once' ? 1 : sighting.bytes.length),
  })

  /** The document of the same bytes, with values of its own; otherwise what `parse` makes of them. */
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

/** Length, a piece of the middle and one of the end: where bodies of one conversation differ. Not proof, only a hint. */
function fingerprintOf(bytes: Buffer): string {
  const middle = bytes.length >> 1
  const end = bytes.length - FINGERPRINT_BYTES
  return `${bytes.length} ${bytes.toString('latin1', middle, middle + 8)} ${bytes.toString('latin1', Math.max(end, 0))}`
}

/** Its bytes and their shape, without the values that the request parses: those take many times as much. */
function ownCopy({ bytes, shape }: RequestDocument): RequestDocument {
  return new RequestDocument(compactCopy(bytes), shape)
}
