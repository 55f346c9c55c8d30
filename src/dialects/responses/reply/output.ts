import { isObject, type JsonObject } from '../../../core/json/json-value.ts'
import { recordOf, stringOf } from '../../chat/reply/narrow.ts'
import { inputOf } from '../../chat/reply/to-chat-chunks.ts'
import { sealRedacted, sealSignature } from '../sealed-thinking.ts'
import type { ToolNames } from '../tool-names.ts'
import { CallItem, CustomItem, FunctionItem, SearchItem } from './call-items.ts'
import type { EventPrinter } from './event-printer.ts'
import { MessageItem } from './message-item.ts'
import type { ItemEnd, OutputItem, Place } from './output-item.ts'
import { ReasoningItem } from './reasoning-item.ts'

/** Parts of an output that follow from its request and its message. */
export interface OutputOptions {
  readonly events: EventPrinter
  readonly toolNames: ToolNames
  /** The part of every item's id that is the message's own. */
  readonly idBase: string
}

/** Makes the items of a response of the blocks of a message; each method returns events. */
export interface ItemWriter {
  readonly items: readonly JsonObject[]
  /** Reason why the response fails although the message is whole. */
  readonly fault?: string | undefined
  startBlock(event: JsonObject, data: string): string
  extendBlock(event: JsonObject): string
  stopBlock(event: JsonObject): string
  end(last: ItemEnd): string
}

/**
 * The items of a response, made of the blocks of a message: a call or thinking is an item, consecutive texts are one. An
 * item begins with its first content, so that an empty block leaves none, and is closed when another begins after its end.
 */
export class Output implements ItemWriter {
  readonly #options: OutputOptions
  /** Items by the index of their block; the open message under its own key. */
  readonly #open = new Map<unknown, OutputItem>()
  /** Keys of the open items whose blocks have ended: they are closed before anything else begins. */
  readonly #stopped = new Set<unknown>()
  readonly #items: JsonObject[] = []
  #message: MessageItem | undefined
  #count = 0

  constructor(options: OutputOptions) {
    this.#options = options
  }

  /** The items that are closed, in the order of their indexes. */
  get items(): readonly JsonObject[] {
    // An open item leaves a hole until it is closed.
    return this.#items.filter((item) => item !== undefined)
  }

  /** Reads a `content_block_start`. */
  startBlock({ index, content_block }: JsonObject, data: string): string {
    const block = recordOf(content_block)
    const ended = this.#endStopped()
    if (block?.type === 'text') return ended + this.#writeText(block.text)
    if (block?.type === 'thinking')
      return ended + this.#writeThinking(index, block.thinking) + this.#seal(index, block.signature)
    if (block?.type === 'redacted_thinking') return ended + this.#redacted(index, stringOf(block.data))
    if (block?.type !== 'tool_use' && !isSearch(block)) return ended
    return ended + this.#startCall(index, block, inputOf(block, data))
  }

  /** Reads a `content_block_delta`. */
  extendBlock({ index, delta }: JsonObject): string {
    if (!isObject(delta)) return ''
    if (delta.type === 'text_delta') return this.#writeText(delta.text)
    if (delta.type === 'thinking_delta') return this.#writeThinking(index, delta.thinking)
    if (delta.type === 'signature_delta') return this.#seal(index, delta.signature)
    const item = this.#open.get(index)
    const piece = stringOf(delta.partial_json)
    return item instanceof CallItem && piece !== '' ? item.write(piece) : ''
  }

  /** Reads a `content_block_stop`. */
  stopBlock({ index }: JsonObject): string {
    if (!this.#open.has(index)) return this.#message?.endPart() ?? ''
    this.#stopped.add(index)
    return ''
  }

  /** Closes all items; the last one was cut when the reply is incomplete. */
  end(last: ItemEnd): string {
    const open = [...this.#open.entries()]
    return open.map(([key], index) => this.#close(key, index === open.length - 1 ? last : 'completed')).join('')
  }

  #writeText(text: unknown): string {
    if (typeof text !== 'string' || text === '') return ''
    if (this.#message !== undefined) return this.#message.write(text)
    const ended = this.#endStopped()
    const message = new MessageItem(this.#place('msg'))
    this.#message = message
    return ended + this.#begin(MessageItem, message) + message.write(text)
  }

  #writeThinking(index: unknown, thinking: unknown): string {
    if (typeof thinking !== 'string' || thinking === '') return ''
    const [item, begun] = this.#reasoning(index)
    return begun + item.write(thinking)
  }

  #seal(index: unknown, signature: unknown): string {
    if (typeof signature !== 'string' || signature === '') return ''
    const [item, begun] = this.#reasoning(index)
    item.seal(sealSignature(signature))
    return begun
  }

  #redacted(index: unknown, data: string): string {
    const [item, begun] = this.#reasoning(index)
    item.seal(sealRedacted(data))
    return begun
  }

  /** Returns the reasoning item of a block, and the events with which it begins, if it does. */
  #reasoning(index: unknown): [item: ReasoningItem, begun: string] {
    const open = this.#open.get(index)
    if (open instanceof ReasoningItem) return [open, '']
    const ended = this.#endMessage()
    const item = new ReasoningItem(this.#place('rs'))
    return [item, ended + this.#begin(index, item)]
  }

  #startCall(index: unknown, block: JsonObject, input: string): string {
    const name = stringOf(block.name)
    const tool = this.#options.toolNames.get(name) ?? { kind: 'function', name, namespace: undefined }
    const start = { callId: stringOf(block.id), tool, input }
    const ended = this.#endMessage()
    if (block.type !== 'tool_use') return ended + this.#begin(index, new SearchItem(this.#place('ws'), start))
    const item =
      tool.kind === 'custom' ? new CustomItem(this.#place('ctc'), start) : new FunctionItem(this.#place('fc'), start)
    return ended + this.#begin(index, item)
  }

  #place(prefix: string): Place {
    const { events, idBase } = this.#options
    const index = this.#count++
    return { id: `${prefix}_${idBase}_${index}`, index, events }
  }

  /** Opens an item under a key; one that is open there is closed. */
  #begin(key: unknown, item: OutputItem): string {
    const ended = this.#close(key, 'completed')
    this.#open.set(key, item)
    return ended + item.open()
  }

  /** Closes the items whose blocks have ended. */
  #endStopped(): string {
    let ended = ''
    for (const key of this.#stopped) ended += this.#close(key, 'completed')
    return ended
  }

  #endMessage(): string {
    return this.#close(MessageItem, 'completed')
  }

  #close(key: unknown, end: ItemEnd): string {
    const item = this.#open.get(key)
    if (item === undefined) return ''
    this.#open.delete(key)
    this.#stopped.delete(key)
    if (item === this.#message) this.#message = undefined
    const closed = item.close(end)
    this.#items[item.index] = item.itemAt(end)
    return closed
  }
}

function isSearch(block: JsonObject | undefined): block is JsonObject {
  return block?.type === 'server_tool_use' && block.name === 'web_search'
}
