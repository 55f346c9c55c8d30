import type { Exchange, Message, RequestDocument } from 'turnpike/plugin'
import { usesStoredState } from 'turnpike/plugin/cache'

/** Question of a request: the text that may differ, and everything that may not. */
export interface Question {
  /** Last user text. */
  readonly text: string
  /** Rest of the conversation, as JSON: earlier messages, other blocks of the last one, marks on its text. */
  readonly context: string
  /** Source document. */
  readonly document: RequestDocument
}

/** Reason, in a word or two, why a request has no question. */
export type NoQuestion =
  | 'edited'
  | 'no-messages'
  | 'system'
  | 'assistant'
  | 'tool'
  | 'tools'
  | 'blocks'
  | 'stored state'

/**
 * Extracts the last user text of a request, in the client's own dialect. Returns a reason when the request does not end
 * in a text of the user alone, or when it was edited in another dialect, where the two cannot be separated.
 */
export function questionOf(exchange: Exchange): Question | NoQuestion {
  const isCanonical = exchange.dialect.name === 'messages'
  if (!isCanonical && exchange.isEdited) return 'edited'
  if (usesStoredState(exchange)) return 'stored state'
  const document = isCanonical ? exchange.request : exchange.client.document
  const turns = exchange.dialect.name === 'responses' ? itemsOf(document.field('input')) : document.field('messages')
  if (!Array.isArray(turns)) return 'no-messages'
  // Validated against its dialect's schema on receipt; `content` may be absent in chat, and items have a type.
  const list: readonly Turn[] = turns
  if (list.some(({ type }) => type === 'additional_tools')) return 'tools'
  const last = list.at(-1)
  if (last?.role !== 'user') return reasonOfRole(last?.role)
  const { content, ...turn } = last
  const parts = partsOf(content)
  if (parts === undefined) return 'blocks'
  const context = JSON.stringify([list.slice(0, -1), turn, parts.context])
  return { text: parts.text, context, document }
}

type Turn = Partial<Omit<Message, 'content'>> & { type?: unknown; content?: unknown }

/** Returns the items of a Responses request, whose input may be a text of the user. */
function itemsOf(input: unknown): unknown {
  return typeof input === 'string' ? [{ role: 'user', content: input }] : input
}

function reasonOfRole(role: string | undefined): NoQuestion {
  if (role === 'assistant') return 'assistant'
  if (role === 'system' || role === 'developer') return 'system'
  return role === undefined ? 'no-messages' : 'tool'
}

const TEXTS: ReadonlySet<unknown> = new Set(['text', 'input_text'])

function partsOf(content: unknown): { text: string; context: unknown } | undefined {
  if (typeof content === 'string') return { text: content, context: 'string' }
  if (!Array.isArray(content)) return undefined
  const blocks: { type?: unknown; text?: unknown }[] = content
  if (!blocks.every(({ type, text }) => TEXTS.has(type) && typeof text === 'string')) return undefined
  const last = blocks.at(-1)
  if (typeof last?.text !== 'string') return undefined
  const { text, ...marks } = last
  return { text, context: [...blocks.slice(0, -1), marks] }
}
