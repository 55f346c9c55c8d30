import { isObject, type JsonObject, tryParseJson } from '../../../core/json/json-value.ts'
import type { StreamEnd } from '../../../core/reply/stream-end.ts'
import { readUsage } from '../../../core/reply/usage.ts'
import { recordOf, stringOf } from '../../chat/reply/narrow.ts'
import { toResponsesUsage } from './usage.ts'

/** Names of the events that end a text: of the text itself, with the member that has it, and of its part, if it is in one. */
interface TextEnd {
  readonly done: string
  readonly member: string
  readonly part: string
}

/** An item that is open, and the text of its open part or of its call. */
interface OpenItem {
  readonly item: JsonObject
  readonly parts: JsonObject[]
  text: string
  isPartOpen: boolean
  end: TextEnd | undefined
}

/** Events that extend an item's text, and those that end it. */
const DELTAS: ReadonlyMap<unknown, TextEnd> = new Map([
  ['response.output_text.delta', { done: 'output_text', member: 'text', part: 'content_part' }],
  [
    'response.reasoning_summary_text.delta',
    { done: 'reasoning_summary_text', member: 'text', part: 'reasoning_summary_part' },
  ],
  ['response.function_call_arguments.delta', { done: 'function_call_arguments', member: 'arguments', part: '' }],
  ['response.custom_tool_call_input.delta', { done: 'custom_tool_call_input', member: 'input', part: '' }],
])

/** Ends a stream of Responses events early, as the provider itself would at `max_output_tokens`: its open items are ended. */
export function createResponsesEnd(): StreamEnd {
  return new ResponsesEnd()
}

class ResponsesEnd implements StreamEnd {
  #response: JsonObject = {}
  #next = 0
  readonly #open = new Map<unknown, OpenItem>()
  readonly #done: unknown[] = []

  see(_name: string, source: Buffer, start: number, end: number): void {
    const event = tryParseJson(source.toString('utf8', start, end))
    if (isObject(event)) this.#see(event)
  }

  atLimit(usage: Readonly<Record<string, unknown>>): string {
    const closed = [...this.#open].map(([index, open]) => this.#close(index, open)).join('')
    const response = {
      ...this.#response,
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: this.#done.filter((item) => item !== undefined),
      usage: toResponsesUsage(readUsage(usage)),
    }
    return `${closed}${this.#print('response.incomplete', { response })}data: [DONE]\n\n`
  }

  #see(event: JsonObject): void {
    const { type, output_index: index, item } = event
    if (typeof event.sequence_number === 'number') this.#next = event.sequence_number + 1
    if (type === 'response.created') this.#response = recordOf(event.response) ?? {}
    else if (type === 'response.output_item.added' && isObject(item))
      this.#open.set(index, { item, parts: [], text: '', isPartOpen: false, end: undefined })
    else if (type === 'response.output_item.done') {
      this.#open.delete(index)
      this.#done[Number(index)] = item
    } else this.#extend(event)
  }

  #extend({ type, output_index: index, delta, part }: JsonObject): void {
    const open = this.#open.get(index)
    if (open === undefined) return
    const ended = DELTAS.get(type)
    if (ended !== undefined) {
      open.end = ended
      open.text += stringOf(delta)
    } else if (type === 'response.content_part.added' || type === 'response.reasoning_summary_part.added') {
      Object.assign(open, { text: '', isPartOpen: true })
    } else if (type === 'response.content_part.done' || type === 'response.reasoning_summary_part.done') {
      open.parts.push(recordOf(part) ?? {})
      Object.assign(open, { text: '', isPartOpen: false })
    }
  }

  #close(index: unknown, open: OpenItem): string {
    const { item, parts, text, end: ended } = open
    const at = { item_id: item.id, output_index: index }
    const place = item.type === 'reasoning' ? { summary_index: parts.length } : { content_index: parts.length }
    let events = ''
    if (ended !== undefined && (ended.part === '' || open.isPartOpen)) {
      const where = ended.part === '' ? at : { ...at, ...place }
      events += this.#print(`response.${ended.done}.done`, {
        ...where,
        [ended.member]: text,
        ...logprobsOf(ended.done),
      })
      if (ended.part !== '') {
        const part =
          item.type === 'reasoning'
            ? { type: 'summary_text', text }
            : { type: 'output_text', text, annotations: [], logprobs: [] }
        events += this.#print(`response.${ended.part}.done`, { ...where, part })
        parts.push(part)
      }
    }
    const status = item.type === 'reasoning' ? {} : { status: 'incomplete' }
    const done = { ...item, ...status, ...contentOf(item, parts, text) }
    this.#done[Number(index)] = done
    return events + this.#print('response.output_item.done', { output_index: index, item: done })
  }

  #print(type: string, members: object): string {
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.#next++, ...members })}\n\n`
  }
}

function logprobsOf(done: string): JsonObject {
  return done === 'output_text' ? { logprobs: [] } : {}
}

function contentOf({ type }: JsonObject, parts: readonly JsonObject[], text: string): JsonObject {
  if (type === 'message') return { content: parts }
  if (type === 'reasoning') return { summary: parts }
  if (type === 'function_call') return { arguments: text }
  return type === 'custom_tool_call' ? { input: text } : {}
}
