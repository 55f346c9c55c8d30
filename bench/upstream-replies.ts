const usage = {
  input_tokens: 412,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  output_tokens: 168,
  service_tier: 'standard',
}

/**
 * How a stream is cut decides its cost, so it also decides the ratios: at 2, 3, 4 and 5 events a write the peer costs 4.4,
 * 5.4, 6.9 and 11.7 times the bare relay. Three comes nearest to the stream by which the project's bars were set (5.8).
 */
const EVENTS_PER_WRITE = 3

/** The last word of every reply: a reader that saw it saw the whole reply. */
export const LAST_WORD = 'end-of-reply'

/** Number of `content_block_delta` events in a streamed reply. */
export const DELTA_COUNT = 50

const pieces = Array.from({ length: DELTA_COUNT }, (_, i) =>
  i === DELTA_COUNT - 1
    ? LAST_WORD
    : ['The retry ', 'keeps its "deadline", ', 'see line\n', 'C:\\src ', '– then it '][i % 5]!,
)

const message = { id: 'msg_01BenchReply', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5-20250929' }

/** A whole message of about 1 KB, as JSON bytes. */
export const jsonReply = Buffer.from(
  JSON.stringify({
    ...message,
    content: [{ type: 'text', text: pieces.join('') }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage,
  }),
)

const opening = [
  {
    type: 'message_start',
    message: { ...message, content: [], stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 1 } },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'ping' },
]
const deltas = pieces.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }))
const closing = [
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
  { type: 'message_stop' },
]

const toSse = (events: { type: string }[]): Buffer =>
  Buffer.from(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))

/** A streamed reply cut as it is written to the socket: the opening, the deltas by threes, the closing. */
export const streamWrites: readonly Buffer[] = [
  toSse(opening),
  ...Array.from({ length: Math.ceil(DELTA_COUNT / EVENTS_PER_WRITE) }, (_, i) =>
    toSse(deltas.slice(i * EVENTS_PER_WRITE, (i + 1) * EVENTS_PER_WRITE)),
  ),
  toSse(closing),
]
