import { hkdfSync, type KeyObject, randomBytes } from 'node:crypto'

const KEY_BYTES = 32

/** Derives a key of 32 bytes for one purpose from a private key (HKDF, RFC 5869); without one, from random bytes. */
export function derivedKey(privateKey: KeyObject | undefined, purpose: string): Buffer {
  const secret = privateKey?.export({ type: 'pkcs8', format: 'der' }) ?? randomBytes(KEY_BYTES)
  return Buffer.from(hkdfSync('sha256', secret, '', `turnpike: ${purpose}`, KEY_BYTES))
}
