/**
 * DESIGN: a Messages stream as a stream of chat completion chunks
 *
 *   message_start ──► role      deltas ──► content, reasoning_content, tool_calls      message_delta ──► finish_reason
 *   message_stop ──► usage, if it was requested, and [DONE]                            ping ──► a comment
 *
 * Guarantees: one `JSON.parse` an event; a chunk is a constant head, the text that changes, and a constant tail.
 * Limits: signatures, citations, redacted thinking and the blocks of the provider's own tools have no equivalent there.
 * Source of shapes: OpenAI, API reference, "the chat completion chunk object", and recorded streams.
 */

import { isObject, type JsonObject, tryParseJson } from '../../../core/json/json-value.ts'
import { latin1Of, membersOf, utf8Of } from '../../../core/json/raw-json.ts'
import { ScanError } from '../../../core/json/scan.ts'
import type { EventTranslator } from '../../../core/reply/event-translator.ts'
import { startedEvents } from '../../../core/reply/started-blocks.ts'
import { mergeUsage, readUsage, type Usage } from '../../../core/reply/usage.ts'
import { chatErrorOf } from './errors.ts'
import { recordOf, stringOf } from './narrow.ts'
import { finishReasonOf } from './stop-reasons.ts'
import { toChatUsage } from './usage.ts'

/** A tool call whose block is open. */
interface OpenCall {
  /** Its index among the calls. */
  readonly number: number
  /** The input that came with the start, as raw JSON; emitted at the end if no other piece of input comes. */
  readonly input: string
  hasInput: boolean
}

const PING = ': ping\n\n'
const DONE = 'data: [DONE]\n\n'

/**
 * Translates Messages events into chunks. `created` in seconds since 1970; `includeUsage` adds the chunk with the token
 * counts, as `stream_options.include_usage` asks.
 */
export function createChatChunks(options: { created: number; includeUsage: boolean }): EventTranslator {
  return new ChatChunks(options)
}

class ChatChunks implements EventTranslator {
  readonly #options: { readonly created: number; readonly includeUsage: boolean }
  #phase: 'before' | 'open' | 'complete' | 'failed' = 'before'
  /** A chunk up to its `choices`, and from there to the delta of its choice. */
  #head = ''
  #deltaHead = ''
  readonly #deltaTail: string
  #usage: Usage | undefined
  #callCount = 0
  /** By the index of the block. */
  readonly #openCalls = new Map<unknown, OpenCall>()
  #isFinished = false

  constructor(options: { created: number; includeUsage: boolean }) {
    this.#options = options
    this.#deltaTail = `,"logprobs":null,"finish_reason":null}]${this.#noUsage}}\n\n`
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

  event(name: string, data: string): string {
    if (name === 'ping') return this.#phase === 'open' || this.#phase === 'before' ? PING : ''
    const event = recordOf(tryParseJson(data))
    if (event === undefined || this.#phase === 'complete' || this.#phase === 'failed') return ''
    if (event.type === 'error') return this.#fail(event)
    if (event.type === 'message_start') return this.#phase === 'before' ? this.#start(event, data) : ''
    return this.#phase === 'open' ? this.#write(event, data) : ''
  }

  end(): string {
    return ''
  }

  #write(event: JsonObject, data: string): string {
    if (event.type === 'message_delta') return this.#endMessage(event)
    if (event.type === 'message_stop') return this.#complete()
    if (this.#isFinished) return '' // nothing may follow the finish reason
    if (event.type === 'content_block_delta') return this.#extendBlock(event)
    if (event.type === 'content_block_start') return this.#startBlock(event, data)
    return event.type === 'content_block_stop' ? this.#stopBlock(event) : ''
  }

  #start(event: JsonObject, data: string): string {
    const message = recordOf(event.message)
    this.#phase = 'open'
    this.#usage = readUsage(message?.usage)
    const { created } = this.#options
    const id = stringOf(message?.id)
    const head = JSON.stringify({ id, object: 'chat.completion.chunk', created, model: stringOf(message?.model) })
    this.#head = `data: ${head.slice(0, -1)},"choices":[`
    this.#deltaHead = `${this.#head}{"index":0,"delta":`
    const first = this.#chunk('{"role":"assistant","content":"","refusal":null}')
    return startedEvents(data).reduce((text, { name, data }) => text + this.event(name, data), first)
  }

  #startBlock({ index, content_block }: JsonObject, data: string): string {
    const block = recordOf(content_block)
    if (block?.type === 'tool_use') return this.#startCall(index, block, data)
    if (block?.type === 'text') return this.#text('content', block.text)
    return block?.type === 'thinking' ? this.#text('reasoning_content', block.thinking) : ''
  }

  #startCall(index: unknown, block: JsonObject, data: string): string {
    const before = this.#stopBlock({ index })
    const number = this.#callCount++
    this.#openCalls.set(index, { number, input: inputOf(block, data), hasInput: false })
    const called = { name: stringOf(block.name), arguments: '' }
    const call = { index: number, id: stringOf(block.id), type: 'function', function: called }
    return before + this.#chunk(JSON.stringify({ tool_calls: [call] }))
  }

  #extendBlock({ index, delta }: JsonObject): string {
    if (!isObject(delta)) return ''
    if (delta.type === 'text_delta') return this.#text('content', delta.text)
    if (delta.type === 'thinking_delta') return this.#text('reasoning_content', delta.thinking)
    if (delta.type !== 'input_json_delta') return ''
    const call = this.#openCalls.get(index)
    const piece = stringOf(delta.partial_json)
    if (call === undefined || piece === '') return ''
    call.hasInput = true
    return this.#arguments(call, piece)
  }

  #stopBlock({ index }: JsonObject): string {
    const call = this.#openCalls.get(index)
    if (call === undefined) return ''
    this.#openCalls.delete(index)
    return call.hasInput ? '' : this.#arguments(call, call.input)
  }

  /** Ends calls whose blocks were not closed. */
  #stopCalls(): string {
    return [...this.#openCalls.keys()].map((index) => this.#stopBlock({ index })).join('')
  }

  #endMessage({ delta, usage }: JsonObject): string {
    const counts = readUsage(usage)
    if (counts !== undefined) this.#usage = mergeUsage(this.#usage, counts)
    const reason = recordOf(delta)?.stop_reason
    return typeof reason === 'string' ? this.#finish(reason) : ''
  }

  #finish(stopReason: unknown): string {
    if (this.#isFinished) return ''
    this.#isFinished = true
    const reason = finishReasonOf(stopReason)
    return `${this.#stopCalls()}${this.#deltaHead}{},"logprobs":null,"finish_reason":"${reason}"}]${this.#noUsage}}\n\n`
  }

  #complete(): string {
    this.#phase = 'complete'
    const finish = this.#finish(undefined)
    if (!this.#options.includeUsage) return finish + DONE
    return `${finish}${this.#head}],"usage":${JSON.stringify(toChatUsage(this.#usage))}}\n\n${DONE}`
  }

  #fail(event: JsonObject): string {
    this.#phase = 'failed'
    return `data: ${JSON.stringify({ error: chatErrorOf(undefined, event).error })}\n\n`
  }

  #text(member: 'content' | 'reasoning_content', text: unknown): string {
    if (typeof text !== 'string' || text === '') return ''
    return this.#chunk(`{"${member}":${JSON.stringify(text)}}`)
  }

  #arguments({ number }: OpenCall, piece: string): string {
    return this.#chunk(`{"tool_calls":[{"index":${number},"function":{"arguments":${JSON.stringify(piece)}}}]}`)
  }

  #chunk(delta: string): string {
    return this.#deltaHead + delta + this.#deltaTail
  }

  /** With requested usage, every chunk but the last has an explicit null. */
  get #noUsage(): string {
    return this.#options.includeUsage ? ',"usage":null' : ''
  }
}

/** Returns the raw input of a `content_block_start`: calls by the provider's code execution bring theirs whole. */
export function inputOf(block: JsonObject, data: string): string {
  if (!isObject(block.input) || Object.keys(block.input).length === 0) return '{}'
  try {
    const raw = membersOf(latin1Of(data.trim())).get('content_block') ?? ''
    return utf8Of(membersOf(raw).get('input') ?? '{}')
  } catch (error) {
    // Nested more deeply than the scanner's limit: numbers may change their text, but the input is not lost.
    if (error instanceof ScanError) return JSON.stringify(block.input)
    throw error
  }
}
