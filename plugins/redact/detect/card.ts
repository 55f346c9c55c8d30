import { passesLuhn } from './check-digits.ts'

/** Ranges of issuers, each with the lengths in use (ISO/IEC 7812, the networks' own lists). */
const ISSUERS =
  /^(?:4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2(?:22[1-9]|2[3-9]\d|[3-6]\d\d|7[01]\d|720)\d{12}|3[47]\d{13}|6(?:011|4[4-9]\d|5\d\d)\d{12,15}|62\d{14,17}|35(?:2[89]|[3-8]\d)\d{12}|3(?:0[0-5]|[68]\d)\d{11}|50\d{14}|5[678]\d{14}|63(?:04|90)\d{12})$/
/** Digits in one piece, in groups of four with a shorter last one, or in the groups of American Express and Diners. */
const LAYOUT =
  /(?:\d{13,19}|\d{4}([ -])\d{4}\1\d{4}\1(?:\d{4}\1\d{1,3}|\d{1,4})|\d{4}([ -])\d{6}\2\d{4,5})(?![0-9A-Za-z])/y
const SEPARATORS = /[ -]/g

/** Returns the end of the number of a payment card that begins at `start`: layout, issuer, length, Luhn's digit; -1 for none. */
export function cardEnd(text: string, start: number): number {
  LAYOUT.lastIndex = start
  const written = LAYOUT.exec(text)?.[0]
  if (written === undefined) return -1
  const digits = written.replaceAll(SEPARATORS, '')
  return ISSUERS.test(digits) && passesLuhn(digits) && !/^(\d)\1+$/.test(digits) ? start + written.length : -1
}
