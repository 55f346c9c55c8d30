import { isUtf8 } from 'node:buffer'
import { isJsonObject, type JsonObject, parseJson } from './json.ts'
import { checkEvents } from './stream-rules.ts'

/** One Server-Sent Event. */
export interface SseEvent {
  /** The event's name; `message` when the stream names none. */
  event: string
  /** The parsed data; `undefined` when it is not JSON, as in OpenAI's `[DONE]`. */
  data: unknown
  /** The data as text, its lines joined by a newline. */
  text: string
}

/**
 * Parses an event stream line by line, as WHATWG HTML §9.2.6 defines: any of three line ends, comments, optional space
 * after the colon, an unfinished last event dropped. Shares no code with the product.
 */
export function parseEvents(bytes: Buffer | string): SseEvent[] {
  const text = bytes.toString().replace(/^\uFEFF/, '')
  const events: SseEvent[] = []
  let name = ''
  let data: string[] = []
  for (const line of text.split(/\r\n|\n|\r/).slice(0, -1)) {
    if (line === '') {
      if (data.length > 0) events.push(toEvent(name, data.join('\n')))
      name = ''
      data = []
    } else {
      const [field, value] = splitField(line)
      if (field === 'event') name = value
      if (field === 'data') data.push(value)
    }
  }
  return events
}

function toEvent(name: string, text: string): SseEvent {
  return { event: name === '' ? 'message' : name, data: parseJson(text), text }
}

/** Splits a line; a comment line has the empty field name, which is ignored. */
function splitField(line: string): [field: string, value: string] {
  const colon = line.indexOf(':')
  if (colon < 0) return [line, '']
  return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')]
}

/**
 * Checks that a reply is one complete, valid Messages stream, and returns its events. In bytes it finds more faults than in
 * events: broken UTF-8 and an unfinished last event. Throws an error that names the event and the rule it breaks.
 */
export function assertMessageStream(stream: Buffer | string | readonly SseEvent[]): SseEvent[] {
  const events = isBytes(stream) ? parseEvents(assertWhole(stream)) : [...stream]
  checkEvents(events)
  return events
}

function isBytes(stream: Buffer | string | readonly SseEvent[]): stream is Buffer | string {
  return typeof stream === 'string' || Buffer.isBuffer(stream)
}

function assertWhole(bytes: Buffer | string): string {
  if (Buffer.isBuffer(bytes) && !isUtf8(bytes)) throw new Error('stream: the bytes are not UTF-8')
  const text = bytes.toString()
  if (!/(\n|\r\n?)(\n|\r\n?)$/.test(text)) {
    throw new Error(`stream: the last event is unfinished: ...${JSON.stringify(text.slice(-60))}`)
  }
  return text
}

/**
 * Assembles the final message of a valid stream: blocks filled by their deltas, and the fields and usage of `message_delta`
 * over those of `message_start`.
 */
export function assembleMessage(events: readonly SseEvent[]): JsonObject {
  let message: JsonObject = {}
  const blocks: JsonObject[] = []
  const inputs = new Map<JsonObject, string>()
  for (const { data } of events) {
    if (!isJsonObject(data)) continue
    const block = blocks[Number(data.index)]
    if (data.type === 'message_start') message = { ...asObject(data.message) }
    if (data.type === 'content_block_start') blocks[Number(data.index)] = structuredClone(asObject(data.content_block))
    if (data.type === 'content_block_delta' && block) applyDelta(block, asObject(data.delta), inputs)
    if (data.type === 'message_delta') message = mergeMessageDelta(message, data)
  }
  for (const [block, input] of inputs) if (input !== '') block.input = JSON.parse(input)
  return { ...message, content: blocks }
}

function applyDelta(block: JsonObject, delta: JsonObject, inputs: Map<JsonObject, string>): void {
  switch (delta.type) {
    case 'text_delta':
      block.text = `${block.text}${delta.text}`
      break
    case 'thinking_delta':
      block.thinking = `${block.thinking}${delta.thinking}`
      break
    case 'signature_delta':
      block.signature = delta.signature
      break
    case 'citations_delta':
      block.citations = [...(Array.isArray(block.citations) ? block.citations : []), delta.citation]
      break
    case 'input_json_delta':
      inputs.set(block, `${inputs.get(block) ?? ''}${delta.partial_json}`)
  }
}

function mergeMessageDelta(message: JsonObject, { type: _, delta, usage, ...rest }: JsonObject): JsonObject {
  return { ...message, ...rest, ...asObject(delta), usage: { ...asObject(message.usage), ...asObject(usage) } }
}

function asObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}
