import { randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

/**
 * DESIGN — form of an API key
 *
 *     svc_live_ 6Zk…32 characters…Qx 0aB3xY
 *     label     190 bits of chance   CRC-32 of all before it
 *
 * Letters and digits only, so that a double click takes it whole. The checksum tells a typing mistake and a guess apart
 * from a key without asking the database; it is no secret and proves nothing.
 */
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_LENGTH = 32
const CHECKSUM_LENGTH = 6
const SHOWN_LENGTH = 2
const ID_LENGTH = 22

const FORM = /^[a-z][a-z0-9]{0,15}_live_[0-9A-Za-z]{38}$/
const BEGINNING = /^[a-z][a-z0-9]{0,15}_live_/
const ID_FORM = /^key_[0-9A-Za-z]{22}$/

/** A new key. */
export function createKey(label: string): string {
  const body = `${label}_live_${randomText(RANDOM_LENGTH)}`
  return body + checksumOf(body)
}

/** The part of a key that may be shown: its label and two characters more. */
export function prefixOf(key: string): string {
  return key.slice(0, key.lastIndexOf('_') + 1 + SHOWN_LENGTH)
}

/** Whether this could be a key: its form and its checksum are right. */
export function isWellFormedKey(text: string): boolean {
  return FORM.test(text) && text.endsWith(checksumOf(text.slice(0, -CHECKSUM_LENGTH)))
}

/** Whether this wants to be a key, right or not. */
export function looksLikeKey(text: string): boolean {
  return BEGINNING.test(text)
}

/** A new id of a key's record. */
export function createKeyId(): string {
  return `key_${randomText(ID_LENGTH)}`
}

/** Whether this could be the id of a key's record. */
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
