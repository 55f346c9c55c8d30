/**
 * The same bytes, in memory that is theirs alone. For what is kept: small Buffers are views, of what a socket read at once
 * or of Node's pool, and each would keep 64 KB alive.
 */
export function compactCopy(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes
  const own = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(own)
  return own
}
