import { hash } from 'node:crypto'

const VALID = /^[a-zA-Z0-9_-]+$/
const INVALID = /[^a-zA-Z0-9_-]/g
const DIGEST_CHARACTERS = 8

/**
 * A tool call's id as the Messages shape takes it. Some servers make ids like `functions.search:0`; such an id gets
 * other characters, and a digest of its own so that two of them stay apart. The same id always gives the same.
 */
export function toToolId(id: string): string {
  if (VALID.test(id)) return id
  return `${id.replace(INVALID, '_')}_${hash('sha256', id, 'hex').slice(0, DIGEST_CHARACTERS)}`
}
