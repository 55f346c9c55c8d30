import { hash } from 'node:crypto'

/** Returns the hash by which a receipt names its scope. The receipt's random id is its salt: equal scopes are not recognisable. */
export function scopeHash(id: string, scope: string): string {
  return hash('sha256', `${id}\n${scope}`, 'hex')
}
