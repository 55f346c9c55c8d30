import { createHash, createPublicKey, type KeyObject } from 'node:crypto'

/** A key that verifies receipts. */
export interface PublicReceiptKey {
  /** The first 16 characters of the base64url SHA-256 of the raw key. */
  readonly id: string
  /** The raw key, 32 bytes in base64url. */
  readonly raw: string
  readonly key: KeyObject
}

/** Thrown for a key that is missing, unreadable or of the wrong kind. */
export class ReceiptKeyError extends Error {}

const ID_LENGTH = 16

/** Returns the public half of an Ed25519 key. Throws `ReceiptKeyError` for a key of another kind. */
export function publicHalf(key: KeyObject): PublicReceiptKey {
  if (key.asymmetricKeyType !== 'ed25519')
    throw new ReceiptKeyError(`Expected an Ed25519 key, got ${key.asymmetricKeyType ?? key.type}.`)
  const publicKey = key.type === 'private' ? createPublicKey(key) : key
  const { x: raw = '' } = publicKey.export({ format: 'jwk' })
  return { id: keyIdOf(raw), raw, key: publicKey }
}

/**
 * Reads public keys: one in base64url, a PEM (of either half), or a JSON of the form of `/.well-known/turnpike-keys`.
 * Throws `ReceiptKeyError`.
 */
export function parsePublicKeys(text: string): PublicReceiptKey[] {
  const trimmed = text.trim()
  try {
    if (trimmed.startsWith('-----BEGIN')) return [publicHalf(createPublicKey(trimmed))]
    if (trimmed.startsWith('{')) return jwksOf(trimmed)
    return [fromRaw(trimmed)]
  } catch (cause) {
    if (cause instanceof ReceiptKeyError) throw cause
    throw new ReceiptKeyError('It is not a readable public key.', { cause })
  }
}

function jwksOf(json: string): PublicReceiptKey[] {
  const { keys }: { keys?: unknown } = JSON.parse(json)
  if (!Array.isArray(keys) || keys.length === 0)
    throw new ReceiptKeyError('Expected `keys`, a list of at least one key.')
  return keys.map((key: { x?: unknown }) => fromRaw(String(key?.x)))
}

/** Reads a raw key, 32 bytes in base64url. Throws `ReceiptKeyError`. */
function fromRaw(raw: string): PublicReceiptKey {
  if (!RAW_KEY.test(raw))
    throw new ReceiptKeyError('Expected a public key: 43 characters of base64url, a PEM, or a JSON with `keys`.')
  return publicHalf(createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: raw }, format: 'jwk' }))
}

const RAW_KEY = /^[A-Za-z0-9_-]{43}$/

function keyIdOf(raw: string): string {
  return createHash('sha256').update(Buffer.from(raw, 'base64url')).digest('base64url').slice(0, ID_LENGTH)
}
