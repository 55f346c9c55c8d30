/**
 * National numbers with check digits, by their published rules. A layout that many other numbers have needs a word before
 * it. The United States' number has no check digit: its ranges are checked (SSA).
 */
import { isDate, mod97, passesLuhn, passesMod1110, passesVerhoeff, weightedSum } from './check-digits.ts'

/** A number of one country. */
export interface NationalId {
  readonly country: string
  /** Layout; matched at the beginning of a word. */
  readonly layout: RegExp
  /** Checks the number without separators, in upper case. */
  readonly isValid: (compact: string) => boolean
  /** Words, one of which must precede the number within a few words. Default: none is needed. */
  readonly context?: RegExp
}

const DNI_LETTERS = 'TRWAGMYFPDXBNJZSQVHLCKE'
const HETU_LETTERS = '0123456789ABCDEFHJKLMNPRSTUVWXY'
const ODD_CF = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23]
const CURP_ALPHABET = '0123456789ABCDEFGHIJKLMNÑOPQRSTUVWXYZ'
const CURP_WEIGHTED = 18

/** Numbers that begin with a digit. */
export const NUMERIC_IDS: readonly NationalId[] = [
  { country: 'US', layout: /\d{3}-\d\d-\d{4}/y, isValid: isSsn },
  {
    country: 'US',
    layout: /\d{3} ?\d\d ?\d{4}/y,
    isValid: isSsn,
    context: /\b(?:ssn|social security)\b/i,
  },
  { country: 'GB', layout: /\d{3}[ -]\d{3}[ -]\d{4}|\d{10}/y, isValid: isNhs, context: /\bnhs\b/i },
  {
    country: 'DE',
    layout: /\d{2} \d{3} \d{3} \d{3}|\d{11}/y,
    isValid: (id) => !id.startsWith('0') && passesMod1110(id),
    context: /steuer|\bid-?nr|\btin\b|tax/i,
  },
  {
    country: 'FR',
    layout: /[12]\d\d(?:0[1-9]|1[0-2])\d{10}|[12] \d\d (?:0[1-9]|1[0-2]) \d\d \d{3} \d{3} \d\d/y,
    isValid: isNir,
  },
  { country: 'ES', layout: /\d{8}-?[A-Z]/y, isValid: (id) => id[8] === DNI_LETTERS[Number(id.slice(0, 8)) % 23] },
  {
    country: 'NL',
    layout: /\d{9}|\d{4}\.\d{2}\.\d{3}/y,
    isValid: (id) => Number(id) > 0 && weightedSum(id, [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0,
    context: /\bbsn\b|burgerservice|sofinummer/i,
  },
  { country: 'BE', layout: /\d\d\.\d\d\.\d\d-\d{3}\.\d\d/y, isValid: isBelgian },
  {
    country: 'PL',
    layout: /\d{11}/y,
    isValid: (id) => weightedSum(id, [1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1]) % 10 === 0,
    context: /pesel/i,
  },
  { country: 'SE', layout: /(?:19|20)?\d{6}[-+]\d{4}/y, isValid: isSwedish },
  { country: 'FI', layout: /\d{6}[-+A-FU-Y]\d{3}[0-9A-Y]/y, isValid: isFinnish },
  {
    country: 'NO',
    layout: /\d{6} ?\d{5}/y,
    isValid: isNorwegian,
    context: /f[øo]dselsnummer|personnummer|national identity|\bfnr\b/i,
  },
  { country: 'BR', layout: /\d{3}\.\d{3}\.\d{3}-\d\d/y, isValid: isCpf },
  { country: 'BR', layout: /\d{11}/y, isValid: isCpf, context: /\bcpf\b/i },
  { country: 'CN', layout: /[1-9]\d{5}(?:19|20)\d{9}[0-9X]/y, isValid: isChinese },
  { country: 'IN', layout: /[2-9]\d{3} \d{4} \d{4}|[2-9]\d{3}-\d{4}-\d{4}/y, isValid: passesVerhoeff },
  { country: 'IN', layout: /[2-9]\d{11}/y, isValid: passesVerhoeff, context: /aadhaa?r|uidai/i },
  { country: 'CH', layout: /756\.\d{4}\.\d{4}\.\d\d|756\d{10}/y, isValid: (id) => ean13(id) },
  {
    country: 'CA',
    layout: /\d{3}[ -]\d{3}[ -]\d{3}|\d{9}/y,
    isValid: (id) => !/^[08]/.test(id) && passesLuhn(id),
    context: /\bsin\b|social insurance|\bnas\b/i,
  },
  {
    country: 'AU',
    layout: /\d{3} \d{3} \d{3}|\d{9}/y,
    isValid: (id) => weightedSum(id, [1, 4, 3, 7, 5, 8, 6, 9, 10]) % 11 === 0,
    context: /\btfn\b|tax file/i,
  },
  {
    country: 'ZA',
    layout: /\d{6} ?\d{4} ?[01]\d\d/y,
    isValid: (id) => isDateAt(id, 0) && passesLuhn(id),
    context: /\bid\b|identity/i,
  },
]

/** Numbers that begin with a letter: words of capitals and digits. */
export const LETTERED_IDS: readonly NationalId[] = [
  {
    country: 'GB',
    layout: /(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z](?:\d{6}| \d\d \d\d \d\d )[A-D]/y,
    isValid: () => true,
  },
  { country: 'ES', layout: /[XYZ]-?\d{7}-?[A-Z]/y, isValid: isNie },
  { country: 'IT', layout: /[A-Z]{6}\d\d[ABCDEHLMPRST]\d\d[A-Z]\d{3}[A-Z]/y, isValid: isCodiceFiscale },
  { country: 'MX', layout: /[A-Z]{4}\d{6}[HMX][A-Z]{5}[0-9A-Z]\d/y, isValid: isCurp },
]

function isSsn(id: string): boolean {
  return !/^(?:000|666|9)/.test(id) && id.slice(3, 5) !== '00' && id.slice(5) !== '0000'
}

function isNhs(id: string): boolean {
  return (11 - (weightedSum(id, [10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11)) % 11 === Number(id[9])
}

function isNir(id: string): boolean {
  return 97 - mod97(id.slice(0, 13)) === Number(id.slice(13))
}

function isBelgian(id: string): boolean {
  const check = Number(id.slice(9))
  return 97 - mod97(id.slice(0, 9)) === check || 97 - mod97(`2${id.slice(0, 9)}`) === check
}

function isSwedish(id: string): boolean {
  const short = id.slice(-10)
  return isDateAt(short, 0) && passesLuhn(short)
}

function isFinnish(id: string): boolean {
  const digits = id.slice(0, 6) + id.slice(-4, -1)
  const isDay = isDate(Number(id.slice(4, 6)), Number(id.slice(2, 4)), Number(id.slice(0, 2)))
  return isDay && HETU_LETTERS[Number(digits) % HETU_LETTERS.length] === id.at(-1)
}

function isNorwegian(id: string): boolean {
  const first = weightedSum(id, [3, 7, 6, 1, 8, 9, 4, 5, 2, 1]) % 11
  return first === 0 && weightedSum(id, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0
}

function isCpf(id: string): boolean {
  if (/^(\d)\1+$/.test(id)) return false
  const check = (length: number) => {
    const weights = Array.from({ length }, (_, i) => length + 1 - i)
    return ((weightedSum(id, weights) * 10) % 11) % 10
  }
  return check(9) === Number(id[9]) && check(10) === Number(id[10])
}

function isChinese(id: string): boolean {
  if (!isDate(Number(id.slice(6, 10)), Number(id.slice(10, 12)), Number(id.slice(12, 14)))) return false
  const sum = weightedSum(id, [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2])
  return '10X98765432'[sum % 11] === id[17]
}

function isNie(id: string): boolean {
  const digits = `${'XYZ'.indexOf(id[0] ?? '')}${id.slice(1, 8)}`
  return DNI_LETTERS[Number(digits) % 23] === id[8]
}

function isCodiceFiscale(id: string): boolean {
  let sum = 0
  for (let i = 0; i < 15; i++) {
    const code = id.charCodeAt(i)
    const value = code >= 65 ? code - 65 : code - 48
    sum += i % 2 === 0 ? Number(ODD_CF[value]) : value
  }
  return String.fromCharCode(65 + (sum % 26)) === id[15]
}

function isCurp(id: string): boolean {
  let sum = 0
  for (let i = 0; i < 17; i++) sum += CURP_ALPHABET.indexOf(id[i] ?? '') * (CURP_WEIGHTED - i)
  return (10 - (sum % 10)) % 10 === Number(id[17])
}

function ean13(id: string): boolean {
  return weightedSum(id, [1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1]) % 10 === 0
}

function isDateAt(id: string, at: number): boolean {
  return isDate(Number(id.slice(at, at + 2)), Number(id.slice(at + 2, at + 4)), Number(id.slice(at + 4, at + 6)))
}
