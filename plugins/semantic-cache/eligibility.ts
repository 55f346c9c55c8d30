import type { Exchange } from 'turnpike/plugin'
import { hasInvisible } from './invisible.ts'
import { isKeptAsDigest } from './normalise.ts'
import type { Question } from './question.ts'

/** Limits set by the operator. */
export interface Limits {
  readonly maxWords: number
  readonly maxTemperature: number
}

const DEFAULT_TEMPERATURE = 1
const TOOL_FIELDS = ['tools', 'functions', 'mcp_servers', 'container']
const CODE_BLOCK = /```|^(?: {2,}|\t)\S|[{};]\s*$/m
const WORD = /\S+/g
/** Matches an overlong word, which would make the rules slow. */
const ENDLESS_WORD = /\S{120}/

/**
 * Returns the reason, in one word, why the plugin does not apply to a request; `undefined` when it does. Results of
 * tools are not in the request: with tools a repeated question may have another answer.
 */
export function idleReasonOf(
  exchange: Exchange,
  { document, text }: Question,
  { maxTemperature }: Limits,
): string | undefined {
  const control = String(exchange.headers['cache-control'] ?? '').toLowerCase()
  // Responses clients set it to have no state at the provider, which a cache here is not.
  const isUnstored = exchange.dialect.name !== 'responses' && document.field('store') === false
  if (control.includes('no-store') || isUnstored) return 'no-store'
  if (TOOL_FIELDS.some((name) => isGiven(document.field(name)))) return 'tools'
  const temperature = document.field('temperature') ?? DEFAULT_TEMPERATURE
  if (Number(temperature) > maxTemperature) return 'temperature'
  // In UTF-8 storage, all lone surrogates become the same character.
  return text.isWellFormed() ? undefined : 'ill-formed'
}

function isGiven(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null
}

/**
 * Returns the reason why only the identical text may answer a text: white space and signs carry meaning in code,
 * invisible characters may carry a request, and the time of the rules grows with the length.
 */
export function literalReasonOf(text: string, { maxWords }: Pick<Limits, 'maxWords'>): string | undefined {
  if (isKeptAsDigest(text)) return 'long'
  if (text.trim() === '') return 'empty'
  if ((text.match(WORD)?.length ?? 0) > maxWords) return 'long'
  if (ENDLESS_WORD.test(text)) return 'long'
  if (CODE_BLOCK.test(text.trimStart())) return 'code'
  return hasInvisible(text) ? 'invisible' : undefined
}
