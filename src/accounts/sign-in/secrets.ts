import { hash, randomBytes, randomInt, randomUUID } from 'node:crypto'

const SESSION_PREFIX = 'sess_'
const SESSION_FORM = /^sess_[\w-]{43}$/
/** Consonants without those that look or sound alike (RFC 8628, 6.1). */
const CODE_LETTERS = 'BCDFGHJKLMNPQRSTVWXZ'
const CODE_LENGTH = 8
const NOT_CODE = new RegExp(`[^${CODE_LETTERS}]`, 'g')

/** Creates a secret of 256 random bits: 43 characters. */
export function createSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Returns the stored form of a secret, which does not reveal it. */
export function hashOf(secret: string): string {
  return hash('sha256', secret, 'base64url')
}

/** Creates the token of a session. */
export function createSessionToken(): string {
  return SESSION_PREFIX + createSecret()
}

/** Creates the id of a session’s record. */
export function createSessionId(): string {
  return `ses_${randomUUID().replaceAll('-', '')}`
}

/** Tests for text that is meant as a session of the gateway’s own. */
export function looksLikeSession(text: string): boolean {
  return text.startsWith(SESSION_PREFIX)
}

/** Tests for text with the form of a session of the gateway’s own. */
export function isSessionToken(text: string): boolean {
  return SESSION_FORM.test(text)
}

/** Creates the code that a user types: 8 letters, 34 bits, which is short-lived and whose guesses are limited. */
export function createUserCode(): string {
  let code = ''
  for (let i = 0; i < CODE_LENGTH; i++) code += CODE_LETTERS[randomInt(CODE_LETTERS.length)]
  return `${code.slice(0, CODE_LENGTH / 2)}-${code.slice(CODE_LENGTH / 2)}`
}

/** Returns the letters of a typed code, in any case and with any separators; `undefined` for another number of them. */
export function lettersOf(typed: string): string | undefined {
  const letters = typed.slice(0, 40).toUpperCase().replaceAll(NOT_CODE, '')
  return letters.length === CODE_LENGTH ? letters : undefined
}

/** Creates the id of an audit entry. */
export function createAuditId(): string {
  return `aud_${randomUUID()}`
}
