import { hash } from 'node:crypto'

/** Returns the `Content-Digest` of a body's bytes (RFC 9530, section 2): `sha-256=:…:`, in base64 with padding. */
export function contentDigest(bytes: Uint8Array): string {
  return `sha-256=:${hash('sha256', bytes, 'base64')}:`
}
