import { crc32 } from 'node:zlib'
import type { Fingerprint } from './digest.ts'

const LENGTHS = 2 ** 21
const CHECKSUMS = 2 ** 32

/** Computes the fingerprint of bytes that are added piece by piece. */
export class FingerprintOf {
  #crc = 0
  #length = 0

  add(bytes: Uint8Array | string): void {
    this.#crc = crc32(bytes, this.#crc)
    this.#length += bytes.length
  }

  get value(): Fingerprint {
    return (this.#length % LENGTHS) * CHECKSUMS + this.#crc
  }
}

/**
 * Returns the offset after the bytes at `start` if they are those of a fingerprint, else -1. No structure is read: equal
 * bytes have equal parts.
 */
export function endOfSame(bytes: Buffer, start: number, fingerprint: Fingerprint): number {
  const end = start + Math.floor(fingerprint / CHECKSUMS)
  return end > start && fingerprintOf(bytes.subarray(start, end)) === fingerprint ? end : -1
}

/** Returns the fingerprint of some bytes. */
export function fingerprintOf(bytes: Uint8Array): Fingerprint {
  return (bytes.length % LENGTHS) * CHECKSUMS + crc32(bytes)
}
