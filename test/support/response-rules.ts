/**
 * DESIGN. The order of events of a Responses stream (Open Responses, "Streaming"; OpenAI, "Streaming events"): each rule is
 * about one type of event, and every event has one. Shares no code with the product.
 */
import { isDeepStrictEqual } from 'node:util'
import { parseEvents } from './events.ts'
import { isJsonObject, type JsonObject, valueAt } from './json.ts'

/** An item between its `added` and its `done`. */
interface OpenItem {
  readonly id: unknown
  readonly type: unknown
  /** Content that the deltas spelled: of calls one text, of messages and summaries one of each part. */
  readonly texts: string[]
  isPartOpen: boolean
  isTextDone: boolean
}

interface Progress {
  readonly open: Map<number, OpenItem>
  readonly done: JsonObject[]
  responseId: unknown
  end: JsonObject | undefined
  readonly isRelayed: boolean
}

type Rule = (event: JsonObject, progress: Progress) => void

const TERMINAL = new Set(['response.completed', 'response.incomplete', 'response.failed'])

const RULES: Readonly<Record<string, Rule>> = {
  'response.output_item.added': addItem,
  'response.output_item.done': endItem,
  'response.content_part.added': (event, progress) => beginPart(event, progress, 'message'),
  'response.output_text.delta': (event, progress) => extend(event, progress, 'message'),
  'response.output_text.done': (event, progress) => endText(event, progress, event.text),
  'response.content_part.done': (event, progress) => endPart(event, progress),
  'response.reasoning_summary_part.added': (event, progress) => beginPart(event, progress, 'reasoning'),
  'response.reasoning_summary_text.delta': (event, progress) => extend(event, progress, 'reasoning'),
  'response.reasoning_summary_text.done': (event, progress) => endText(event, progress, event.text),
  'response.reasoning_summary_part.done': (event, progress) => endPart(event, progress),
  'response.function_call_arguments.delta': (event, progress) => extend(event, progress, 'function_call'),
  'response.function_call_arguments.done': (event, progress) => endText(event, progress, event.arguments),
  'response.custom_tool_call_input.delta': (event, progress) => extend(event, progress, 'custom_tool_call'),
  'response.custom_tool_call_input.done': (event, progress) => endText(event, progress, event.input),
  'response.web_search_call.in_progress': (event, progress) => void itemOf(event, progress, 'web_search_call'),
  'response.web_search_call.searching': (event, progress) => void itemOf(event, progress, 'web_search_call'),
  'response.web_search_call.completed': (event, progress) => void itemOf(event, progress, 'web_search_call'),
  error: () => {},
}

/** Rules that differ between streams. */
export interface StreamRules {
  /** True for a stream that is relayed: where it broke off, the last response does not list the items. */
  readonly isRelayed?: boolean
}

/** Checks one whole Responses stream and returns its last response. Throws an error that names the event and the rule. */
export function assertResponseStream(bytes: Buffer | string, { isRelayed = false }: StreamRules = {}): JsonObject {
  const events = parseEvents(bytes)
  const last = events.pop()
  assert(last?.text === '[DONE]', `the last event is ${last?.event}`)
  const progress: Progress = { open: new Map(), done: [], responseId: undefined, end: undefined, isRelayed }
  for (const [number, { event, data, text }] of events.entries()) {
    try {
      assert(isJsonObject(data), `its data is no object: ${text}`)
      assert(data.type === event, `its type is ${data.type}`)
      assert(data.sequence_number === number, `its sequence_number is ${data.sequence_number}`)
      assert(progress.end === undefined, 'it follows the end')
      check(number, data, progress)
    } catch (error) {
      throw new Error(`event ${number} (${event}): ${(error as Error).message}`, { cause: error }) // safe: ours
    }
  }
  assert(progress.end !== undefined, `no end after ${events.length} events`)
  return progress.end
}

function check(number: number, event: JsonObject, progress: Progress): void {
  const type = String(event.type)
  if (number < 2) assert(type === ['response.created', 'response.in_progress'][number], 'it is not the first')
  const rule = number < 2 ? begin : TERMINAL.has(type) ? end : RULES[type]
  assert(rule !== undefined, 'it is of an unknown type')
  rule(event, progress)
}

function begin({ response }: JsonObject, progress: Progress): void {
  assertWhole(response)
  assert(response.status === 'in_progress', `the response is ${response.status}`)
  assert(progress.responseId === undefined || progress.responseId === response.id, 'the response has another id')
  progress.responseId = response.id
}

function end({ type, response }: JsonObject, progress: Progress): void {
  assertWhole(response)
  assert(`response.${response.status}` === type, `the response is ${response.status}`)
  assert(response.id === progress.responseId, 'the response has another id')
  const listed = progress.isRelayed && response.status === 'failed' ? [] : progress.done.filter(() => true)
  assert(isDeepStrictEqual(response.output, listed), `its output differs: ${JSON.stringify(response.output)}`)
  if (response.status === 'failed') assert(typeof valueAt(response, 'error.code') === 'string', 'it has no error')
  else {
    assert(progress.open.size === 0, 'an item is open')
    for (const name of ['input_tokens', 'output_tokens', 'total_tokens'])
      assert(Number.isInteger(valueAt(response, `usage.${name}`)), `it has no ${name}`)
    assert(Number.isInteger(valueAt(response, 'usage.input_tokens_details.cached_tokens')), 'it has no cached_tokens')
    assert(Number.isInteger(valueAt(response, 'usage.output_tokens_details.reasoning_tokens')), 'no reasoning_tokens')
  }
  progress.end = response
}

/** The members that a response always has (Open Responses, "Response"). */
const MEMBERS = [
  ...['id', 'object', 'created_at', 'completed_at', 'status', 'incomplete_details', 'model', 'previous_response_id'],
  ...['instructions', 'output', 'error', 'tools', 'tool_choice', 'truncation', 'parallel_tool_calls', 'text', 'top_p'],
  ...['presence_penalty', 'frequency_penalty', 'top_logprobs', 'temperature', 'reasoning', 'usage', 'metadata'],
  ...['max_output_tokens', 'max_tool_calls', 'store', 'background', 'service_tier', 'safety_identifier'],
  'prompt_cache_key',
]

/** Asserts that a response has every member. */
export function assertWhole(response: unknown): asserts response is JsonObject {
  assert(isJsonObject(response), 'it has no response')
  const missing = MEMBERS.filter((name) => response[name] === undefined)
  assert(missing.length === 0, `the response lacks ${missing.join(', ')}`)
}

function addItem({ output_index: index, item }: JsonObject, { open, done }: Progress): void {
  assert(isJsonObject(item) && typeof item.id === 'string' && item.id !== '', 'it has no id')
  assert(typeof index === 'number' && !open.has(index) && done[index] === undefined, `index ${index} is taken`)
  assert(
    [...open.values(), ...done.filter(() => true)].every(({ id }) => id !== item.id),
    `id ${item.id} is taken`,
  )
  open.set(index, { id: item.id, type: item.type, texts: [], isPartOpen: false, isTextDone: false })
}

function itemOf(event: JsonObject, { open }: Progress, type?: string): OpenItem {
  const item = open.get(Number(event.output_index))
  assert(item !== undefined, `no item ${event.output_index} is open`)
  assert(event.item_id === item.id, `its item_id is ${event.item_id}`)
  assert(type === undefined || item.type === type, `its item is a ${item.type}`)
  return item
}

function beginPart(event: JsonObject, progress: Progress, type: string): void {
  const item = itemOf(event, progress, type)
  assert(!item.isPartOpen, 'a part is open')
  assert((event.content_index ?? event.summary_index) === item.texts.length, 'its part has another index')
  item.isPartOpen = true
  item.isTextDone = false
  item.texts.push('')
}

function extend(event: JsonObject, progress: Progress, type: string): void {
  const item = itemOf(event, progress, type)
  const isCall = !isParted(item)
  if (isCall && item.texts.length === 0) item.texts.push('')
  assert(isCall || item.isPartOpen, 'no part is open')
  assert(!item.isTextDone, 'its text is done')
  assert(typeof event.delta === 'string' && event.delta !== '', 'it is empty')
  item.texts.push(`${item.texts.pop()}${event.delta}`)
}

function endText(event: JsonObject, progress: Progress, whole: unknown): void {
  const item = itemOf(event, progress)
  assert(!item.isTextDone, 'its text is done already')
  assert(whole === (item.texts.at(-1) ?? ''), 'its text differs from its deltas')
  item.isTextDone = true
}

function endPart(event: JsonObject, progress: Progress): void {
  const item = itemOf(event, progress)
  assert(item.isPartOpen && item.isTextDone, 'its part is not at its end')
  assert(valueAt(event, 'part.text') === item.texts.at(-1), 'its text differs from its deltas')
  item.isPartOpen = false
}

function isParted({ type }: OpenItem): boolean {
  return type === 'message' || type === 'reasoning'
}

function endItem({ output_index: index, item }: JsonObject, { open, done }: Progress): void {
  const opened = open.get(Number(index))
  assert(isJsonObject(item) && opened !== undefined && opened.id === item.id, 'it ends another item')
  assert(opened.type === item.type, `it is a ${item.type}`)
  assert(!opened.isPartOpen, 'a part is open')
  assert(isParted(opened) || TEXTLESS.has(item.type) || opened.isTextDone, 'its input is not done')
  assert(isDeepStrictEqual(textsOf(item), opened.texts), 'its content differs from its deltas')
  open.delete(Number(index))
  done[Number(index)] = item
}

const TEXTLESS = new Set<unknown>(['web_search_call', 'compaction'])

function textsOf(item: JsonObject): unknown[] {
  if (TEXTLESS.has(item.type)) return []
  const parts = item.content ?? item.summary
  if (Array.isArray(parts)) return parts.map((part) => valueAt(part, 'text'))
  const text = item.arguments ?? item.input
  return text === '' ? [] : [text]
}

function assert(holds: boolean, fault: string): asserts holds {
  if (!holds) throw new Error(fault)
}
