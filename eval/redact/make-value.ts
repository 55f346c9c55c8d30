/**
 * Values of each kind, made from published formats and check-digit rules, and look-alikes that break one rule each.
 * The arithmetic is written here a second time, on purpose: the detectors' own would prove nothing.
 */
import type { Random } from '../loops/random.ts'

/** Makes a value, or a look-alike. */
export type Make = (random: Random) => string

const DIGITS = '0123456789'
const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const UPPER = LOWER.toUpperCase()
export const HEX = '0123456789abcdef'
export const ALNUM: string = DIGITS + LOWER + UPPER
export const URL_SAFE: string = `${ALNUM}_-`
export const BASE64: string = `${ALNUM}+/`

/** Returns `length` characters of an alphabet, with a letter and a digit where it has both. */
export function some(random: Random, alphabet: string, length: number): string {
  for (;;) {
    const text = Array.from({ length }, () => random.pick([...alphabet])).join('')
    const isMixed = /\d/.test(text) && /[A-Za-z]/.test(text)
    if (length < 6 || !/\d/.test(alphabet) || !/[A-Za-z]/.test(alphabet) || isMixed) return text
  }
}

export function digits(random: Random, length: number, first = '123456789'): string {
  return random.pick([...first]) + Array.from({ length: length - 1 }, () => random.pick([...DIGITS])).join('')
}

/** Appends Luhn's digit. */
export function withLuhn(body: string): string {
  const sum = [...body].reverse().reduce((total, digit, i) => {
    const value = i % 2 === 0 ? 2 * Number(digit) : Number(digit)
    return total + Math.floor(value / 10) + (value % 10)
  }, 0)
  return body + ((10 - (sum % 10)) % 10)
}

/** Replaces the last character by another one: a wrong check digit. */
export function broken(random: Random, value: string): string {
  const last = value.at(-1) ?? ''
  const alphabet = /\d/.test(last) ? DIGITS : /[a-z]/.test(last) ? LOWER : UPPER
  return value.slice(0, -1) + random.pick([...alphabet].filter((character) => character !== last))
}

/** Cuts a text into groups. */
export function grouped(text: string, sizes: readonly number[], separator: string): string {
  const groups: string[] = []
  let from = 0
  for (let i = 0; from < text.length; i++) {
    const size = sizes[i] ?? sizes.at(-1) ?? text.length
    groups.push(text.slice(from, from + size))
    from += size
  }
  return groups.join(separator)
}

/** Computes a weighted sum of the digits. */
export function weighted(text: string, weights: readonly number[]): number {
  return [...text].reduce((sum, digit, i) => sum + Number(digit) * (weights[i] ?? 0), 0)
}

/** A birthday as `yymmdd` or in another order of `y`, `m` and `d`; `Y` is the year in full. */
export function birthday(random: Random, order: string): string {
  const parts: Record<string, string> = {
    Y: String(random.int(1940, 2005)),
    y: String(random.int(40, 99)),
    m: String(random.int(1, 12)).padStart(2, '0'),
    d: String(random.int(1, 28)).padStart(2, '0'),
  }
  return [...order].map((part) => parts[part]).join('')
}
