import { type JsonObject, valueAt } from '../json.ts'

/** Deltas that fill a block which starts empty: its type → its empty start and its deltas. */
interface Filling {
  start: JsonObject
  deltas: JsonObject[]
}

/**
 * Returns the events of a finished message, as the provider streams it: blocks start empty and are filled by deltas, a ping
 * follows the first block start, the last usage is cumulative. Blocks that the provider sends whole are whole in their start.
 */
export function toEvents(message: JsonObject): JsonObject[] {
  const { content, stop_reason, stop_sequence, usage, ...rest } = message
  const blocks = (Array.isArray(content) ? content : []) as JsonObject[] // safe: built by toMessage or by a test
  const total = usage as JsonObject // safe: every message has a usage object
  const start = { ...rest, content: [], stop_reason: null, stop_sequence: null, usage: { ...total, output_tokens: 1 } }
  const { cache_creation: _, ...cumulative } = total
  return [
    { type: 'message_start', message: start },
    ...blocks.flatMap(toBlockEvents),
    { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage: cumulative },
    { type: 'message_stop' },
  ]
}

/** Prints a stream, with the spaces that the provider pads its data with. The inverse of reading, for tests only. */
export function toSse(events: readonly JsonObject[]): Buffer {
  return Buffer.from(events.map((event, index) => `event: ${event.type}\ndata: ${toData(event, index)}\n\n`).join(''))
}

function toData(event: JsonObject, index: number): string {
  if (event.type === 'ping') return '{"type": "ping"}'
  return `${JSON.stringify(event).slice(0, -1)}${' '.repeat((index * 7) % 16)}}`
}

function toBlockEvents(block: JsonObject, index: number): JsonObject[] {
  const { start, deltas } = fill(block)
  return [
    { type: 'content_block_start', index, content_block: start },
    ...(index === 0 ? [{ type: 'ping' }] : []),
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}

function fill(block: JsonObject): Filling {
  switch (block.type) {
    case 'text': {
      const citations = Array.isArray(block.citations) ? block.citations : []
      const start = { ...block, text: '', ...(block.citations === undefined ? {} : { citations: [] }) }
      return {
        start,
        deltas: [
          ...pieces(block.text, /\s*\S+/gu).map((text) => ({ type: 'text_delta', text })),
          ...citations.map((citation) => ({ type: 'citations_delta', citation })),
        ],
      }
    }
    case 'thinking':
      return {
        start: { ...block, thinking: '', signature: '' },
        deltas: [
          ...pieces(block.thinking, /\s*\S+/gu).map((thinking) => ({ type: 'thinking_delta', thinking })),
          { type: 'signature_delta', signature: block.signature ?? '' },
        ],
      }
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use':
      if ((valueAt(block, 'caller.type') ?? 'direct') !== 'direct') return { start: block, deltas: [] }
      return {
        start: { ...block, input: {} },
        deltas: ['', ...pieces(toInputText(block.input), /.{1,7}/gsu)].map((partial_json) => ({
          type: 'input_json_delta',
          partial_json,
        })),
      }
    default:
      return { start: block, deltas: [] }
  }
}

/** Prints the input; a tool called without arguments streams none. */
function toInputText(input: unknown): string {
  const text = JSON.stringify(input ?? {})
  return text === '{}' ? '' : text
}

/** Cuts text by a pattern and keeps the rest after the last match, so that the chunks always join to the text. */
function pieces(text: unknown, pattern: RegExp): string[] {
  const whole = String(text ?? '')
  const matches = whole.match(pattern) ?? []
  const rest = whole.slice(matches.join('').length)
  return rest === '' ? matches : [...matches, rest]
}
