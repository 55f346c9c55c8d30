import type { Exchange } from 'turnpike/plugin'
import { isEnglish } from './english.ts'
import { hasInvisible } from './invisible.ts'
import { isKeptAsDigest } from './normalise.ts'
import type { Question } from './question.ts'

/** What the operator allows. */
export interface Limits {
  readonly maxWords: number
  readonly maxTemperature: number
}

const DEFAULT_TEMPERATURE = 1
const CODE_BLOCK = /```|^(?: {2,}|\t)\S|[{};]\s*$/m
const WORD = /\S+/g
/** No word is this long; what is would make the guard's patterns slow. */
const ENDLESS_WORD = /\S{120}/

/** Why a request goes past the cache altogether; `undefined` when it may be looked up. */
export function bypassReasonOf(
  exchange: Exchange,
  { document, text }: Question,
  { maxTemperature }: Limits,
): string | undefined {
  const control = String(exchange.headers['cache-control'] ?? '').toLowerCase()
  if (control.includes('no-store') || document.field('store') === false) return 'no-store'
  const temperature = document.field('temperature') ?? DEFAULT_TEMPERATURE
  if (Number(temperature) > maxTemperature) return 'temperature'
  // Where texts are kept as UTF-8, halves of surrogate pairs all become the same character.
  if (!text.isWellFormed()) return 'ill-formed'
  return undefined
}

/**
 * Why a text may only be answered by the very same text, not by a similar one: the guard's lists are English, white space
 * and signs that it does not read carry meaning in code, what nobody sees may ask for something else, and the guard's time
 * grows with the length.
 */
export function literalReasonOf(text: string, { maxWords }: Limits): string | undefined {
  if (isKeptAsDigest(text)) return 'long'
  if (text.trim() === '') return 'empty'
  if ((text.match(WORD)?.length ?? 0) > maxWords) return 'long'
  if (ENDLESS_WORD.test(text)) return 'long'
  if (CODE_BLOCK.test(text)) return 'code'
  if (hasInvisible(text)) return 'invisible'
  if (!isEnglish(text)) return 'language'
  return undefined
}
