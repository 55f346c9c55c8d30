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
 * Limits: at its first occurrence only a body's mark of 32 bits is kept, so traffic that never repeats keeps nothing else,
 * but for few copies of bodies that have the same length and pieces.
 */
const MOST_BODIES = 1024
const MOST_BYTES = 4 * 1024 * 1024
/** A body that alone would take much of that is parsed again. */
const LONGEST_KEPT_BYTES = 1024 * 1024
/** Bodies made of one template may all have one mark: the 1st, 2nd, 4th … and each 64th takes the place of the one before. */
const MOST_OTHERS = 64
const MARKED_IN_THE_MIDDLE = 8
const MARKED_AT_THE_END = 24
/** The prime of FNV-1a, a hash of bytes. */
const FNV_PRIME = 0x01000193

/** Recognises repeated bodies. */
export class KnownBodies {
  /** Marks of bodies that occurred once, each in the place of its lowest bits; a later one takes the place. */
  readonly #once = new Uint32Array(MOST_BODIES)
  /** Bodies since the last repeated one that had its mark and other bytes, by place. */
  readonly #others = new Uint8Array(MOST_BODIES)
  readonly #known = new LRUCache<number, RequestDocument>({
    max: MOST_BODIES,
    maxSize: MOST_BYTES,
    maxEntrySize: LONGEST_KEPT_BYTES,
    sizeCalculation: ({ bytes }) => bytes.length,
  })

  /** Returns the document of the same bytes, with values of its own; otherwise the result of `parse`. */
  recognise(bytes: Buffer, parse: (bytes: Buffer) => RequestDocument): RequestDocument {
    const mark = markOf(bytes)
    const known = this.#known.get(mark)
    const place = mark % MOST_BODIES
    if (known?.bytes.equals(bytes)) {
      this.#others[place] = 0
      return new RequestDocument(known.bytes, known.shape)
    }
    const document = parse(bytes)
    const isKept = known === undefined ? this.#once[place] === mark : this.#replaces(place)
    if (isKept) this.#known.set(mark, ownCopy(document))
    this.#once[place] = mark
    return document
  }

  /** Counts a body with the mark of another, and tests that it is one of those that take its place. */
  #replaces(place: number): boolean {
    const before = this.#others[place] ?? 0
    const others = (before === 2 * MOST_OTHERS ? MOST_OTHERS : before) + 1
    this.#others[place] = others
    return (others & (others - 1)) === 0
  }
}

/** Returns a hash of the length, a piece of the middle and one of the end, where bodies of one conversation differ. Only a hint. */
function markOf(bytes: Buffer): number {
  const { length } = bytes
  const middle = length >> 1
  const ofMiddle = hashed(bytes, { from: middle, to: Math.min(middle + MARKED_IN_THE_MIDDLE, length), start: length })
  const mark = hashed(bytes, { from: Math.max(length - MARKED_AT_THE_END, 0), to: length, start: ofMiddle })
  return mark >>> 0
}

function hashed(bytes: Buffer, { from, to, start }: { from: number; to: number; start: number }): number {
  let hash = start
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), FNV_PRIME)
  return hash
}

/** Copies the bytes and their shape, without the parsed values, which take many times as much memory. */
function ownCopy({ bytes, shape }: RequestDocument): RequestDocument {
  return new RequestDocument(compactCopy(bytes), shape)
}
