import { createHmac, hash } from 'node:crypto'

/** Returns the stored hash of a key: 43 characters, which do not reveal the key. */
export type HashKey = (key: string) => string

/** Creates the hash function: SHA-256 suffices for 190 random bits. With a pepper it is HMAC-SHA-256. */
export function createKeyHash(pepper: string | undefined): HashKey {
  if (pepper === undefined) return (key) => hash('sha256', key, 'base64url')
  return (key) => createHmac('sha256', pepper).update(key).digest('base64url')
}
