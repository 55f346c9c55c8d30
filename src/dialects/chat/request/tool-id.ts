import { hash } from 'node:crypto'

const VALID = /^[a-zA-Z0-9_-]+$/
const INVALID = /[^a-zA-Z0-9_-]/g
const DIGEST_CHARACTERS = 8

/**
 * Returns a tool call's id in a form that the Messages shape accepts. Some servers use ids like `functions.search:0`; such
 * an id gets other characters, and a digest that keeps two of them distinct. Deterministic.
 */
export function toToolId(id: string): string {
  if (VALID.test(id)) return id
  return `${id.replace(INVALID, '_')}_${hash('sha256', id, 'hex').slice(0, DIGEST_CHARACTERS)}`
}
