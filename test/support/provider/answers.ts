import { isJsonObject, type JsonObject, valueAt } from '../json.ts'
import type { AnswerScript } from './script.ts'

/** The request of a reply, and its number, which makes ids unique and the same on every run. */
export interface AnswerContext {
  body: JsonObject
  nth: number
}

const BYTES_PER_TOKEN = 4
const DEFAULT_MODELS = ['claude-opus-4-8', 'claude-sonnet-4-5', 'claude-haiku-4-5']
const DEFAULT_LIMIT = 20

/** Returns the words of a text, each with the space before it, the last also with that behind it. No word is too long. */
function wordsOf(text: string): string[] {
  const words = text.trim() === '' ? [] : text.split(/(?<=\S)(?=\s)/)
  const last = words.at(-1) ?? ''
  return last.trim() === '' ? [...words.slice(0, -2), ...words.slice(-2, -1).map((word) => word + last)] : words
}

/**
 * Builds a finished message: the scripted text or blocks, else a text built from the last user text. One word counts as one
 * token, so a text longer than `max_tokens` words is cut there and stops with `max_tokens`, as with the provider.
 */
export function toMessage({ body, nth }: AnswerContext, script: Omit<AnswerScript, 'kind'> = {}): JsonObject {
  const words = wordsOf(script.text ?? `You said: ${lastUserText(body)}`)
  const fitting = words.slice(0, Number(body.max_tokens))
  const content = script.content ?? [{ type: 'text', text: fitting.join('') }]
  const outputTokens = script.content ? tokensOf(script.content) : Math.max(1, fitting.length)
  return {
    model: body.model,
    id: `msg_01StandIn${String(nth).padStart(15, '0')}`,
    type: 'message',
    role: 'assistant',
    content,
    stop_reason: script.stopReason ?? stopReasonOf(content, fitting.length < words.length),
    stop_sequence: null,
    usage: {
      input_tokens: countInputTokens(body),
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
      output_tokens: outputTokens,
      service_tier: 'standard',
      ...script.usage,
    },
  }
}

/** Counts the input tokens of a request body: a quarter of the bytes of its prompt, at least 1. */
export function countInputTokens({ system, tools, messages }: JsonObject): number {
  return tokensOf([system ?? '', tools ?? '', messages ?? ''])
}

/** Builds a page of the model list; `limit` and `after_id` of the query are honoured. */
export function listModels(url: string, models: readonly string[] = DEFAULT_MODELS): JsonObject {
  const query = new URL(url, 'http://provider').searchParams
  const first = models.indexOf(query.get('after_id') ?? '') + 1
  const page = models.slice(first, first + Number(query.get('limit') ?? DEFAULT_LIMIT))
  return {
    data: page.map((id) => ({ type: 'model', id, display_name: id, created_at: '2025-09-29T00:00:00Z' })),
    has_more: first + page.length < models.length,
    first_id: page[0] ?? null,
    last_id: page.at(-1) ?? null,
  }
}

function lastUserText({ messages }: JsonObject): string {
  const last = Array.isArray(messages) ? messages.findLast((message) => valueAt(message, 'role') === 'user') : undefined
  const content = valueAt(last, 'content')
  if (typeof content === 'string') return content
  const blocks: unknown[] = Array.isArray(content) ? content : []
  return blocks.flatMap((block) => (isJsonObject(block) && block.type === 'text' ? [block.text] : [])).join(' ')
}

function stopReasonOf(content: readonly JsonObject[], isCut: boolean): string {
  if (content.some((block) => block.type === 'tool_use')) return 'tool_use'
  return isCut ? 'max_tokens' : 'end_turn'
}

function tokensOf(value: unknown): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(value)) / BYTES_PER_TOKEN)
}
