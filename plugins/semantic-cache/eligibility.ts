import type { Exchange } from 'turnpike/plugin'
import { hasInvisible } from './invisible.ts'
import { isKeptAsDigest } from './normalise.ts'
import type { Question } from './question.ts'

/** What the operator allows. */
export interface Limits {
  readonly maxWords: number
  readonly maxTemperature: number
}

const DEFAULT_TEMPERATURE = 1
const TOOL_FIELDS = ['tools', 'functions', 'mcp_servers', 'container']
const CODE_BLOCK = /```|^(?: {2,}|\t)\S|[{};]\s*$/m
const WORD = /\S+/g
/** No word is this long; what is would make the rules slow. */
const ENDLESS_WORD = /\S{120}/

/**
 * Why the module cannot apply to a request, in one word; `undefined` when it can. What tools find out is not in the
 * request: with them a question that is asked again may have another answer.
 */
export function idleReasonOf(
  exchange: Exchange,
  { document, text }: Question,
  { maxTemperature }: Limits,
): string | undefined {
  const control = String(exchange.headers['cache-control'] ?? '').toLowerCase()
  if (control.includes('no-store') || document.field('store') === false) return 'no-store'
  if (TOOL_FIELDS.some((name) => isGiven(document.field(name)))) return 'tools'
  const temperature = document.field('temperature') ?? DEFAULT_TEMPERATURE
  if (Number(temperature) > maxTemperature) return 'temperature'
  // Where texts are kept as UTF-8, halves of surrogate pairs all become the same character.
  return text.isWellFormed() ? undefined : 'ill-formed'
}

function isGiven(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null
}

/**
 * Why a text may only be answered by the very same text: white space and signs carry meaning in code, what nobody sees may
 * ask for something else, and the time that rules take grows with the length.
 */
export function literalReasonOf(text: string, { maxWords }: Pick<Limits, 'maxWords'>): string | undefined {
  if (isKeptAsDigest(text)) return 'long'
  if (text.trim() === '') return 'empty'
  if ((text.match(WORD)?.length ?? 0) > maxWords) return 'long'
  if (ENDLESS_WORD.test(text)) return 'long'
  if (CODE_BLOCK.test(text.trimStart())) return 'code'
  return hasInvisible(text) ? 'invisible' : undefined
}
