import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'

/**
 * DESIGN — secrets at rest
 *
 * AES-256-GCM: nonce (12 bytes, random), ciphertext, tag (16 bytes), in base64url. The additional data binds the text to
 * its place, so that a ciphertext that is copied to another row does not open there.
 */
const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Returns a key of 256 bits from a secret of at least 32 random bytes, in any form. */
export function sealingKeyOf(secret: string): Buffer {
  return hash('sha256', `turnpike secrets\n${secret}`, 'buffer')
}

/** Encrypts a text for its place. */
export function seal(key: Buffer, text: string, place: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(place))
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, sealed, cipher.getAuthTag()]).toString('base64url')
}

/** Decrypts a text of this place; `undefined` with another key or place, or after a change. */
export function unseal(key: Buffer, sealed: string, place: string): string | undefined {
  const bytes = Buffer.from(sealed, 'base64url')
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    const text = [decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]
    return Buffer.concat(text).toString('utf8')
  } catch {
    return undefined
  }
}
