/** Check-digit rules; all take digits as text, and return false for a wrong check digit. */

/** Luhn, ISO/IEC 7812-1 annex B. */
export function passesLuhn(digits: string): boolean {
  let sum = 0
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i])
    const doubled = i % 2 === 1 ? digit * 2 : digit
    sum += doubled > 9 ? doubled - 9 : doubled
  }
  return sum % 10 === 0
}

/** Remainder of a long number by 97, digit by digit. */
export function mod97(digits: string): number {
  let rest = 0
  for (let i = 0; i < digits.length; i++) rest = (rest * 10 + Number(digits[i])) % 97
  return rest
}

/** Sum of the digits, each multiplied by the weight at its place. */
export function weightedSum(digits: string, weights: readonly number[]): number {
  return weights.reduce((sum, weight, i) => sum + weight * Number(digits[i]), 0)
}

/** ISO 7064 MOD 11,10, over all digits with the check digit last. */
export function passesMod1110(digits: string): boolean {
  let product = 10
  for (const digit of digits.slice(0, -1)) {
    const sum = (Number(digit) + product) % 10 || 10
    product = (sum * 2) % 11
  }
  return (11 - product) % 10 === Number(digits.at(-1))
}

const VERHOEFF_PRODUCT = [
  '0123456789',
  '1234067895',
  '2340178956',
  '3401289567',
  '4012395678',
  '5987604321',
  '6598710432',
  '7659821043',
  '8765932104',
  '9876543210',
]
const VERHOEFF_PERMUTATION = [
  '0123456789',
  '1576283094',
  '5803796142',
  '8916043527',
  '9453126870',
  '4286573901',
  '2793806415',
  '7046913258',
]

/** Verhoeff's rule, over all digits with the check digit last. */
export function passesVerhoeff(digits: string): boolean {
  let check = 0
  for (let i = 0; i < digits.length; i++) {
    const permuted = VERHOEFF_PERMUTATION[i % 8]?.[Number(digits[digits.length - 1 - i])]
    check = Number(VERHOEFF_PRODUCT[check]?.[Number(permuted)])
  }
  return check === 0
}

/** Tests for a date that exists; a year of two digits is taken for any century. */
export function isDate(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false
  return day <= new Date(Date.UTC(year < 100 ? 2000 + year : year, month, 0)).getUTCDate()
}
