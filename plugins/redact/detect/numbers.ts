import { cardEnd } from './card.ts'
import { isAlphanumericAt } from './characters.ts'
import type { Finding } from './finding.ts'
import { LETTERED_IDS, type NationalId, NUMERIC_IDS } from './national-ids.ts'
import { isInternational, nationalPhoneEnd } from './phone.ts'

const LEAST_DIGITS = 9
const LONGEST_NUMBER = 32
const FRENCH_DIGITS = 15
const CONTEXT_CHARACTERS = 48
const DIGIT_ZERO = 0x30
const DIGIT_NINE = 0x39
/** Characters between the groups of one number; at most two in a row, as in `) `. */
const SEPARATORS = ' -./()'
const SEPARATED = /[ \-./+()]/g

/** Digits of a number with separators, from its first digit on. */
interface Span {
  readonly end: number
  readonly digits: number
}

/** Reads a number with its separators, up to the first character that cannot belong to it. */
export function spanAt(text: string, start: number): Span {
  let digits = 0
  let end = start
  const last = Math.min(text.length, start + LONGEST_NUMBER)
  for (let at = start; at < last; at++) {
    const code = text.charCodeAt(at)
    if (code >= DIGIT_ZERO && code <= DIGIT_NINE) {
      digits++
      end = at + 1
    } else if (!SEPARATORS.includes(text[at] ?? '') || at - end >= 2) break
  }
  return { end, digits }
}

/** Returns the card, telephone number or national number that begins with the digit at `start`. */
export function numberAt(text: string, start: number, span: Span): Finding | undefined {
  if (span.digits < LEAST_DIGITS - 1) return undefined
  // Lists of single digits are common: only the French number begins with one.
  const isSingle = !isDigitAt(text, start + 1) && text[start - 1] !== '+'
  if (isSingle) return span.digits >= FRENCH_DIGITS ? idAt(text, start, NUMERIC_IDS) : undefined
  return cardAt(text, start) ?? idAt(text, start, NUMERIC_IDS) ?? phoneAt(text, start, span)
}

/** Returns the national number of capitals and digits that begins at `start`. */
export function letteredIdAt(text: string, start: number): Finding | undefined {
  return idAt(text, start, LETTERED_IDS)
}

function cardAt(text: string, start: number): Finding | undefined {
  if (isPartOfNumber(text, start)) return undefined
  const end = cardEnd(text, start)
  return end === -1 ? undefined : { start, end, kind: 'card' }
}

function idAt(text: string, start: number, ids: readonly NationalId[]): Finding | undefined {
  if (isPartOfNumber(text, start)) return undefined
  for (const { layout, isValid, context } of ids) {
    layout.lastIndex = start
    const written = layout.exec(text)?.[0]
    if (written === undefined || continues(text, start + written.length)) continue
    if (!isValid(written.replaceAll(SEPARATED, ''))) continue
    if (context !== undefined && !context.test(text.slice(Math.max(0, start - CONTEXT_CHARACTERS), start))) continue
    return { start, end: start + written.length, kind: 'national_id' }
  }
  return undefined
}

function phoneAt(text: string, start: number, { end }: Span): Finding | undefined {
  const before = text[start - 1]
  if (before === '+') return internationalAt(text, start, end)
  if (text.startsWith('00', start) && !isPartOfNumber(text, start)) {
    const found = internationalAt(text, start + 2, end)
    if (found !== undefined && text[start + 2] !== '0' && /\D/.test(text.slice(start, end))) return { ...found, start }
  }
  return (before === '(' ? nationalAt(text, start - 1) : undefined) ?? nationalAt(text, start)
}

function nationalAt(text: string, start: number): Finding | undefined {
  if (isPartOfNumber(text, start)) return undefined
  const end = nationalPhoneEnd(text, start)
  return end === -1 || continues(text, end) ? undefined : { start, end, kind: 'phone' }
}

/** Reads the longest number in international form, `start` being behind the plus. */
function internationalAt(text: string, start: number, end: number): Finding | undefined {
  const plus = text[start - 1] === '+' ? 1 : 0
  if (isAlphanumericAt(text, start - 1 - plus)) return undefined
  for (let at = end; at > start + 7; at--) {
    if (!isDigitAt(text, at - 1) || isAlphanumericAt(text, at)) continue
    const written = text.slice(start, at)
    if (isInternational(written.replaceAll(SEPARATED, '').replace(/^(\d{2})0(?=\d{9,10}$)/, '$1')))
      return { start: start - plus, end: at, kind: 'phone' }
  }
  return undefined
}

/** Tests for a number that goes on to the left: decimals, versions, ids in groups. */
function isPartOfNumber(text: string, start: number): boolean {
  return isAlphanumericAt(text, start - 1) || (/[.\-_/+,:]/.test(text[start - 1] ?? '') && isDigitAt(text, start - 2))
}

/** Tests for a number that goes on to the right. */
function continues(text: string, end: number): boolean {
  return isAlphanumericAt(text, end) || (/[.\-_/:]/.test(text[end] ?? '') && isDigitAt(text, end + 1))
}

function isDigitAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= DIGIT_ZERO && code <= DIGIT_NINE
}
