import { isObject, tryParseJson } from '../../../core/json/json-value.ts'
import { messageOfStream } from '../../../core/reply/message-of-stream.ts'
import { createMessagesEvents } from './to-messages-events.ts'

/**
 * Converts a response's JSON to a message: that of a stream in which every item comes whole. `model` and `id` are used where
 * the response has none. Returns `undefined` when there is no usable answer: no JSON, no output, or a failure.
 */
export function toMessagesReply(response: Buffer, named: { model: string; id: string }): Buffer | undefined {
  const parsed = tryParseJson(response)
  if (!isObject(parsed) || !Array.isArray(parsed.output) || parsed.status === 'failed') return undefined
  const events = createMessagesEvents(named)
  const print = (type: string, members: object) => events.event(type, JSON.stringify({ type, ...members }))
  const created = print('response.created', { response: { id: parsed.id, model: parsed.model } })
  const items = parsed.output.map((item, output_index) => print('response.output_item.done', { output_index, item }))
  const end = print('response.completed', { response: { ...parsed, output: [] } })
  return messageOfStream(Buffer.from(created + items.join('') + end))
}
