import { isObject } from '../json/json-value.ts'
import type { Reply } from '../reply/reply.ts'
import type { ClientRequest } from './client-request.ts'
import type { Exchange } from './exchange.ts'
import type { RequestDocument } from './request.ts'

/** A stored response that a request continues, whose provider adds its conversation to the request's own input. */
export interface ContinuedResponse {
  /** Digest of the credential that may continue it; empty: no credential. */
  readonly account: string
  /** Tokens of its conversation, itself included; `null`: not known. */
  readonly tokens: number | null
}

/** Part of the conversation that providers have stored. */
export interface StoredContext {
  /** The stored response that the request continues, where its provider has it. */
  readonly continued?: ContinuedResponse | undefined
  /** Id of the conversation of the stored response that the request continues. */
  readonly conversation?: string | undefined
  /** Digest of the credential of the last call to a provider. */
  account?: string
  /** Observes the reply of a provider, which may be shared with other requests and outlive this one. */
  readonly watch?: ((exchange: Exchange, reply: Reply) => void) | undefined
}

/** The largest context window of any model with stored responses, for contexts whose size is not known. */
const LARGEST_WINDOW_TOKENS = 1_050_000
/** Fields of a Responses request that add stored input. */
const STORED_FIELDS = ['conversation', 'prompt'] as const
const REFERENCE = 'item_reference'
/** Beginnings of escapes of the letters and the underscore, which no JSON printer writes. */
const ESCAPED_LETTERS = ['\\u005', '\\u006', '\\u007']

/**
 * Returns the most input tokens that a provider adds to a request from what it has stored: those of the continued response,
 * or the largest context window where the size is not known.
 */
export function storedInputTokens({ dialect, document }: ClientRequest, { continued }: StoredContext): number {
  if (dialect.name !== 'responses') return 0
  const isUnknown = STORED_FIELDS.some((name) => isGiven(document.field(name))) || refersToItems(document)
  if (isUnknown || continued?.tokens === null) return LARGEST_WINDOW_TOKENS
  return continued?.tokens ?? 0
}

/** Tests for an item of the input that is only a reference to a stored one. Nearly every body is searched, not parsed. */
function refersToItems(document: RequestDocument): boolean {
  const { bytes } = document
  if (![`"${REFERENCE}"`, ...ESCAPED_LETTERS].some((text) => bytes.includes(text))) return false
  const items = document.field('input')
  return Array.isArray(items) && items.some((item) => isObject(item) && item.type === REFERENCE)
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}
