import { BASE32_DIGITS, printBase32 } from '../base32.ts'

/** Bytes of randomness in a receipt's id. */
export const ID_RANDOM_BYTES = 10

const TIME_DIGITS = 10

/** Pattern of a receipt's id. */
export const RECEIPT_ID = /^rcpt_[0-9a-hjkmnp-tv-z]{26}$/

const NO_RANDOMNESS = new Uint8Array(ID_RANDOM_BYTES)

/** Returns the lowest id that a receipt of this time could have. */
export function firstReceiptIdAt(nowMs: number): string {
  return createReceiptId(Math.max(0, nowMs), NO_RANDOMNESS)
}

/** Creates a receipt's id: `rcpt_`, 10 characters of milliseconds since 1970, 16 of `random`. Ids sort by time. */
export function createReceiptId(nowMs: number, random: Uint8Array): string {
  let time = ''
  for (let i = 0, rest = Math.floor(nowMs); i < TIME_DIGITS; i++, rest = Math.floor(rest / 32))
    time = BASE32_DIGITS.charAt(rest % 32) + time
  return `rcpt_${time}${printBase32(random)}`
}
