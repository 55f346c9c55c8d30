/**
 * DESIGN: a stream of Responses events as a Messages stream
 *
 *   created ──► message_start     items ──► blocks (answer-blocks.ts)     completed, incomplete ──► message_delta, message_stop
 *   failed, error ──► error
 *
 * Guarantees
 * - Text is emitted as soon as it arrives. An item that comes whole, without deltas, is emitted when it is done.
 * - Pieces of a call belong to the item of their `output_index`, however the calls of a reply are interleaved.
 * - Without `completed` or `incomplete` the answer is not complete. Data that is no event is ignored; nothing throws.
 * Limits: counts in `message_start` are 0. Items of the provider's own tools and annotations have no equivalent.
 */
import { isObject, type JsonObject, tryParseJson } from '../../../core/json/json-value.ts'
import type { EventTranslator } from '../../../core/reply/event-translator.ts'
import { printEvent } from '../../../core/reply/sse.ts'
import type { Usage } from '../../../core/reply/usage.ts'
import { AnswerBlocks } from '../../chat/reply/answer-blocks.ts'
import { messagesErrorOf } from '../../chat/reply/errors.ts'
import { listOf, recordOf, stringOf } from '../../chat/reply/narrow.ts'
import { NO_USAGE } from '../../chat/reply/usage.ts'
import { signatureOf } from '../sealed-thinking.ts'
import { flatNameOf } from '../tool-names.ts'
import { readResponsesUsage } from './usage.ts'

/** Values for a reply that has none of its own. */
interface Named {
  readonly model: string
  readonly id: string
}

/** An item whose content is coming. */
interface Item {
  readonly index: number
  hasContent: boolean
  /** Number of its summary's parts so far. */
  parts: number
}

/** Translates Responses events into Messages events. */
export function createMessagesEvents(named: Named): EventTranslator {
  return new MessagesEvents(named)
}

class MessagesEvents implements EventTranslator {
  readonly #named: Named
  #phase: 'open' | 'complete' | 'failed' = 'open'
  #blocks: AnswerBlocks | undefined
  #usage: Usage | undefined
  readonly #items = new Map<unknown, Item>()
  #hasRefused = false

  constructor(named: Named) {
    this.#named = named
  }

  get isComplete(): boolean {
    return this.#phase === 'complete'
  }

  get hasFailed(): boolean {
    return this.#phase === 'failed'
  }

  get usage(): Usage | undefined {
    return this.#usage
  }

  event(_name: string, data: string): string {
    if (this.#phase !== 'open') return ''
    const event = recordOf(tryParseJson(data))
    if (event === undefined) return ''
    const { type } = event
    if (type === 'error') return this.#fail(recordOf(event.error) ?? event)
    if (type === 'response.failed') return this.#fail(recordOf(recordOf(event.response)?.error) ?? {})
    const begun = this.#blocks === undefined ? this.#start(recordOf(event.response)) : ''
    if (type === 'response.completed' || type === 'response.incomplete')
      return begun + this.#complete(recordOf(event.response) ?? {})
    return this.#blocks === undefined ? begun : begun + this.#write(event, this.#blocks)
  }

  end(): string {
    return ''
  }

  #start(response: JsonObject | undefined): string {
    const id = stringOf(response?.id) || this.#named.id
    const model = stringOf(response?.model) || this.#named.model
    this.#blocks = new AnswerBlocks(id)
    const message = { id, type: 'message', role: 'assistant', model, content: [] }
    const event = {
      type: 'message_start',
      message: { ...message, stop_reason: null, stop_sequence: null, usage: NO_USAGE },
    }
    return printEvent(event)
  }

  #write(event: JsonObject, blocks: AnswerBlocks): string {
    const written = this.#writeEvent(event, blocks)
    return blocks.problem === undefined
      ? written
      : written + this.#fail({ message: `It broke off: ${blocks.problem}.` })
  }

  #writeEvent({ type, output_index: at, delta, item }: JsonObject, blocks: AnswerBlocks): string {
    switch (type) {
      case 'response.output_item.added':
        return isObject(item) ? this.#addItem(at, item, blocks) : ''
      case 'response.output_text.delta':
        return this.#prose('text', stringOf(delta), this.#itemAt(at))
      case 'response.refusal.delta':
        this.#hasRefused = true
        return this.#prose('text', stringOf(delta), this.#itemAt(at))
      case 'response.reasoning_summary_part.added':
        return this.#beginSummary(this.#itemAt(at))
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return this.#prose('thinking', stringOf(delta), this.#itemAt(at))
      case 'response.function_call_arguments.delta':
        return this.#arguments(stringOf(delta), this.#itemAt(at))
      case 'response.output_item.done':
        return isObject(item) ? this.#endItem(at, item, blocks) : ''
      default:
        return ''
    }
  }

  #itemAt(at: unknown): Item {
    const known = this.#items.get(at)
    if (known !== undefined) return known
    const item: Item = { index: this.#items.size, hasContent: false, parts: 0 }
    this.#items.set(at, item)
    return item
  }

  #addItem(at: unknown, item: JsonObject, blocks: AnswerBlocks): string {
    const { index } = this.#itemAt(at)
    return item.type === 'function_call' ? blocks.call({ ...callOf(item), index, arguments: '' }) : ''
  }

  #prose(kind: 'text' | 'thinking', piece: string, item: Item): string {
    if (piece === '') return ''
    item.hasContent = true
    return this.#blocks?.prose(kind, piece) ?? ''
  }

  /** Parts of a summary are paragraphs of the thinking. */
  #beginSummary(item: Item): string {
    return item.parts++ > 0 ? this.#prose('thinking', '\n\n', item) : ''
  }

  #arguments(piece: string, item: Item): string {
    if (piece === '') return ''
    item.hasContent = true
    return this.#blocks?.call({ index: item.index, id: '', name: '', arguments: piece }) ?? ''
  }

  #endItem(at: unknown, item: JsonObject, blocks: AnswerBlocks): string {
    const open = this.#itemAt(at)
    if (item.type === 'reasoning') return this.#endReasoning(item, open, blocks)
    if (item.type === 'message') return open.hasContent ? '' : this.#wholeMessage(item, open)
    if (item.type === 'custom_tool_call')
      return blocks.call({ ...callOf(item), index: open.index, arguments: JSON.stringify({ input: item.input }) })
    if (item.type !== 'function_call') return ''
    const args = open.hasContent ? '' : stringOf(item.arguments)
    return blocks.call({ ...callOf(item), index: open.index, arguments: args })
  }

  #endReasoning(item: JsonObject, open: Item, blocks: AnswerBlocks): string {
    const texts = [...listOf(item.summary), ...(listOf(item.summary).length > 0 ? [] : listOf(item.content))]
    const whole = texts.map((part) => stringOf(recordOf(part)?.text)).join('\n\n')
    const shown = open.hasContent ? '' : this.#prose('thinking', whole, open)
    const signature = signatureOf(item)
    return signature === '' ? shown : shown + blocks.seal(signature)
  }

  #wholeMessage(item: JsonObject, open: Item): string {
    const parts = listOf(item.content).map((part) => recordOf(part) ?? {})
    this.#hasRefused ||= parts.some(({ type }) => type === 'refusal')
    return parts.map(({ text, refusal }) => this.#prose('text', stringOf(text) || stringOf(refusal), open)).join('')
  }

  #complete(response: JsonObject): string {
    if (this.#blocks === undefined) return ''
    this.#usage = readResponsesUsage(response.usage)
    const reason = recordOf(response.incomplete_details)?.reason
    const refused = this.#hasRefused || reason === 'content_filter'
    const ended = this.#blocks.hasCalls ? 'tool_use' : 'end_turn'
    const stop_reason = refused ? 'refusal' : response.status === 'incomplete' ? 'max_tokens' : ended
    const blocks = this.#blocks.finish()
    this.#phase = 'complete'
    const delta = { stop_reason, stop_sequence: null }
    const end = { type: 'message_delta', delta, usage: this.#usage?.raw ?? NO_USAGE }
    return blocks + printEvent(end) + printEvent({ type: 'message_stop' })
  }

  #fail(error: JsonObject): string {
    this.#phase = 'failed'
    return printEvent(messagesErrorOf(undefined, { error }))
  }
}

function callOf({ call_id, name, namespace }: JsonObject): { id: string; name: string } {
  return { id: stringOf(call_id), name: flatNameOf(stringOf(name), namespace) }
}
