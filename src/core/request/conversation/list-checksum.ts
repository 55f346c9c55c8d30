import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { LargeDigest } from '../../large-digest.ts'

/** All processes have the same: who forges a checksum mixes up own conversations. */
const EVERYBODYS_KEY = hash('sha256', 'turnpike lists of messages', 'buffer')
/** Above this size GMAC takes less time than CRC-32. */
const LARGE_BYTES = 32 * 1024
const TAIL_BYTES = 64
const TAIL_BITS = 21
const WHOLE_VALUES = 2 ** 32

/** Returns a checksum of 53 bits, of which 21 are those of the end. */
export function checksumOf(bytes: Buffer): number {
  return tailOf(bytes) * WHOLE_VALUES + (bytes.length < LARGE_BYTES ? crc32(bytes) : gmacOf(bytes))
}

/** Tests whether the end of `bytes` is that of the bytes with this checksum; all need not be read for it. */
export function endsAlike(checksum: number, bytes: Buffer): boolean {
  return Math.floor(checksum / WHOLE_VALUES) === tailOf(bytes)
}

function tailOf(bytes: Buffer): number {
  return crc32(bytes.subarray(-TAIL_BYTES)) >>> (32 - TAIL_BITS)
}

function gmacOf(bytes: Buffer): number {
  return Buffer.from(new LargeDigest(EVERYBODYS_KEY).add(bytes).end(), 'base64url').readUInt32BE()
}
