import { createHmac, hash } from 'node:crypto'

/** What is stored of a key: 43 characters, from which nobody gets the key back. */
export type HashKey = (key: string) => string

/** Hashes keys with SHA-256: they are 190 bits of chance, which nobody guesses. With a pepper it is HMAC-SHA-256. */
export function createKeyHash(pepper: string | undefined): HashKey {
  if (pepper === undefined) return (key) => hash('sha256', key, 'base64url')
  return (key) => createHmac('sha256', pepper).update(key).digest('base64url')
}
