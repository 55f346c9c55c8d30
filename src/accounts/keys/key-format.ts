import { randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

/**
 * DESIGN — form of an API key
 *
 *     svc_live_ 6Zk…32 characters…Qx 0aB3xY
 *     label     190 random bits      CRC-32 of all before it
 *
 * Letters and digits only, so that a double click selects the whole key. The checksum distinguishes typing mistakes and
 * guesses from keys without querying the database; it is no secret and proves nothing.
 */
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_LENGTH = 32
const CHECKSUM_LENGTH = 6
const SHOWN_LENGTH = 2
const ID_LENGTH = 22

const FORM = /^[a-z][a-z0-9]{0,15}_live_[0-9A-Za-z]{38}$/
const BEGINNING = /^[a-z][a-z0-9]{0,15}_live_/
const ID_FORM = /^key_[0-9A-Za-z]{22}$/

/** Creates a key. */
export function createKey(label: string): string {
  const body = `${label}_live_${randomText(RANDOM_LENGTH)}`
  return body + checksumOf(body)
}

/** Returns the part of a key that may be shown: its label and two more characters. */
export function prefixOf(key: string): string {
  return key.slice(0, key.lastIndexOf('_') + 1 + SHOWN_LENGTH)
}

/** Returns true for text with a key's form and a valid checksum. */
export function isWellFormedKey(text: string): boolean {
  return FORM.test(text) && text.endsWith(checksumOf(text.slice(0, -CHECKSUM_LENGTH)))
}

/** Returns true for text that is meant as a key, valid or not. */
export function looksLikeKey(text: string): boolean {
  return BEGINNING.test(text)
}

/** Creates the id of a key's record. */
export function createKeyId(): string {
  return `key_${randomText(ID_LENGTH)}`
}

/** Creates the id of a team. */
export function createTeamId(): string {
  return `team_${randomText(ID_LENGTH)}`
}

/** Returns true for text with the form of a key record's id. */
export function isKeyId(text: string): boolean {
  return ID_FORM.test(text)
}

function randomText(length: number): string {
  let text = ''
  for (let i = 0; i < length; i++) text += DIGITS[randomInt(DIGITS.length)]
  return text
}

function checksumOf(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = DIGITS[rest % DIGITS.length] + digits
    rest = Math.floor(rest / DIGITS.length)
  }
  return digits
}
