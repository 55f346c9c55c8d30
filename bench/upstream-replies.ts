/**
 * The cutting of a stream determines its cost, and so the ratios: at 2, 3, 4 and 5 events per write the peer costs 4.4,
 * 5.4, 6.9 and 11.7 times the bare relay. Three comes nearest to the stream by which the project's bars were set (5.8).
 */
const EVENTS_PER_WRITE = Number(process.env.EVENTS_PER_WRITE ?? 3)

/** Last word of every reply, by which a reader recognises a complete one. */
export const LAST_WORD = 'end-of-reply'

/** Number of events of a streamed reply with a piece of its text. */
export const DELTA_COUNT = 50

/** Replies of one dialect, with the same text in all. */
export interface Replies {
  /** JSON reply of about 1 KB. */
  json: Buffer
  /** Streamed reply, as the writes to the socket: the opening, the deltas by threes, the closing. */
  streamWrites: readonly Buffer[]
}

const pieces = Array.from({ length: DELTA_COUNT }, (_, i) =>
  i === DELTA_COUNT - 1
    ? LAST_WORD
    : ['The retry ', 'keeps its "deadline", ', 'see line\n', 'C:\\src ', '– then it '][i % 5]!,
)

/** Replies for Messages clients. */
export const messagesReplies: Replies = createMessagesReplies()

/** Replies for chat clients. */
export const chatReplies: Replies = createChatReplies()

/** Replies for Responses clients. */
export const responsesReplies: Replies = createResponsesReplies()

function createMessagesReplies(): Replies {
  const usage = {
    input_tokens: 412,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    output_tokens: 168,
    service_tier: 'standard',
  }
  const message = { id: 'msg_01BenchReply', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5-20250929' }
  const ending = { stop_reason: 'end_turn', stop_sequence: null }
  const json = { ...message, content: [{ type: 'text', text: pieces.join('') }], ...ending, usage }
  const start = {
    ...message,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 1 },
  }
  const toEvent = (event: { type: string }) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
  const opening = [
    { type: 'message_start', message: start },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'ping' },
  ]
  const deltas = pieces.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }))
  const closing = [
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: ending, usage },
    { type: 'message_stop' },
  ]
  return {
    json: Buffer.from(JSON.stringify(json)),
    streamWrites: cut(opening.map(toEvent), deltas.map(toEvent), closing.map(toEvent)),
  }
}

/**
 * Creates replies in the shapes of OpenAI's API reference, "The chat completion object" and "The chat completion chunk
 * object".
 */
function createChatReplies(): Replies {
  const usage = {
    prompt_tokens: 412,
    completion_tokens: 168,
    total_tokens: 580,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
  }
  const served = { created: 1790000000, model: 'gpt-4.1-2025-04-14', system_fingerprint: 'fp_5f2c' }
  const message = { role: 'assistant', content: pieces.join(''), refusal: null }
  const choice = { index: 0, message, logprobs: null, finish_reason: 'stop' }
  const json = { id: 'chatcmpl-Bench', object: 'chat.completion', ...served, choices: [choice], usage }
  const chunk = { id: 'chatcmpl-Bench', object: 'chat.completion.chunk', ...served }
  const toEvent = (rest: object) => `data: ${JSON.stringify({ ...chunk, ...rest })}\n\n`
  const toDelta = (delta: object, finishReason: string | null = null) =>
    toEvent({ choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }], usage: null })
  const opening = toDelta({ role: 'assistant', content: '', refusal: null })
  const deltas = pieces.map((content) => toDelta({ content }))
  // The gateway requests the usage of every stream, even if its client did not.
  const closing = [toDelta({}, 'stop'), toEvent({ choices: [], usage }), 'data: [DONE]\n\n']
  return { json: Buffer.from(JSON.stringify(json)), streamWrites: cut([opening], deltas, closing) }
}

/** Creates replies in the shapes of OpenAI's API reference, "The response object" and "Streaming events". */
function createResponsesReplies(): Replies {
  const usage = {
    input_tokens: 412,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 168,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 580,
  }
  const part = { type: 'output_text', text: pieces.join(''), annotations: [], logprobs: [] }
  const item = { id: 'msg_Bench', type: 'message', status: 'completed', role: 'assistant', content: [part] }
  const object = { id: 'resp_Bench', object: 'response', created_at: 1790000000, model: 'gpt-4.1-2025-04-14' }
  const rest = { error: null, incomplete_details: null, parallel_tool_calls: true, store: false, tools: [] }
  const json = { ...object, ...rest, status: 'completed', output: [item], usage }
  const begun = { ...object, ...rest, status: 'in_progress', output: [], usage: null }
  const place = { item_id: item.id, output_index: 0 }
  const at = { ...place, content_index: 0 }
  interface Event {
    readonly type: string
    readonly [name: string]: unknown
  }
  const events: Event[][] = [
    [
      { type: 'response.created', response: begun },
      { type: 'response.in_progress', response: begun },
      { type: 'response.output_item.added', output_index: 0, item: { ...item, status: 'in_progress', content: [] } },
      { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
    ],
    pieces.map((delta) => ({ type: 'response.output_text.delta', ...at, delta, logprobs: [] })),
    [
      { type: 'response.output_text.done', ...at, text: part.text, logprobs: [] },
      { type: 'response.content_part.done', ...at, part },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: json },
    ],
  ]
  let sequence_number = 0
  const toEvent = (event: Event) =>
    `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: sequence_number++ })}\n\n`
  const [opening = [], deltas = [], closing = []] = events.map((each) => each.map(toEvent))
  return { json: Buffer.from(JSON.stringify(json)), streamWrites: cut(opening, deltas, closing) }
}

function cut(opening: string[], deltas: string[], closing: string[]): Buffer[] {
  const starts = Array.from({ length: Math.ceil(DELTA_COUNT / EVENTS_PER_WRITE) }, (_, i) => i * EVENTS_PER_WRITE)
  const portions = starts.map((start) => deltas.slice(start, start + EVENTS_PER_WRITE))
  return [opening, ...portions, closing].map((events) => Buffer.from(events.join('')))
}
