/**
 * Returns the same bytes in memory of their own, for bytes that are kept: small Buffers are views of one socket read or of
 * Node's pool, and each would keep 64 KB alive.
 */
export function compactCopy(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes
  const own = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(own)
  return own
}
