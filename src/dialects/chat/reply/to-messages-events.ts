/**
 * DESIGN: a stream of chat completion chunks as a Messages stream
 *
 *   first chunk ──► message_start      deltas ──► blocks (answer-blocks.ts)      [DONE], end ──► message_delta, message_stop
 *
 * Guarantees
 * - One `JSON.parse` a chunk; text is emitted as soon as it arrives.
 * - Token counts come in a chunk after the one with the finish reason, so the end waits for `[DONE]` or the source's end.
 * - Without either `[DONE]` or a finish reason the answer is not complete, and is not reported as complete.
 * - Data that is no chunk, has no choice or a further one, or follows the end is ignored; nothing throws.
 * Limits: counts in `message_start` are 0, since a chat stream reports them last.
 */

import type { JsonObject } from '../../../core/json/json-value.ts'
import { tryParseJson } from '../../../core/json/json-value.ts'
import type { EventTranslator } from '../../../core/reply/event-translator.ts'
import { printEvent } from '../../../core/reply/sse.ts'
import type { Usage } from '../../../core/reply/usage.ts'
import { AnswerBlocks } from './answer-blocks.ts'
import { firstChoiceOf } from './choices.ts'
import { messagesErrorOf } from './errors.ts'
import { recordOf, stringOf } from './narrow.ts'
import { reasoningOf, textOf } from './said.ts'
import { isBrokenOff, messageEndingOf } from './stop-reasons.ts'
import { callsOf, type Place } from './tool-calls.ts'
import { NO_USAGE, readChatUsage } from './usage.ts'

const DONE = '[DONE]'

/** Translates chunks into Messages events; `model` and `id` are used where the first chunk has none. */
export function createMessagesEvents(options: { model: string; id: string }): EventTranslator {
  return new MessagesEvents(options)
}

class MessagesEvents implements EventTranslator {
  readonly #options: { readonly model: string; readonly id: string }
  #phase: 'open' | 'complete' | 'failed' = 'open'
  /** Set with the first chunk. */
  #blocks: AnswerBlocks | undefined
  #usage: Usage | undefined
  #finishReason: unknown
  #stoppedBy: unknown
  #hasRefused = false

  constructor(options: { model: string; id: string }) {
    this.#options = options
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
    if (this.#phase !== 'open') return ''
    if (data === DONE) return this.#complete()
    const chunk = recordOf(tryParseJson(data))
    if (chunk === undefined) return ''
    if (chunk.error || name === 'error') return this.#fail(chunk)
    return this.#take(chunk, data)
  }

  end(): string {
    return this.#phase === 'open' && this.#finishReason !== undefined ? this.#complete() : ''
  }

  #take(chunk: JsonObject, data: string): string {
    const first = firstChoiceOf(chunk)
    const events = this.#blocks === undefined ? this.#start(chunk, first !== undefined) : ''
    // Groq has sent its counts separately, and Moonshot sends them in the choice.
    const counts = chunk.usage ?? first?.choice.usage ?? recordOf(chunk.x_groq)?.usage
    if (counts) this.#usage = readChatUsage(counts) ?? this.#usage
    if (first === undefined || this.#blocks === undefined) return events
    const path = ['choices', first.position, 'delta']
    const written = this.#write(this.#blocks, recordOf(first.choice.delta), { json: () => data, path })
    return events + written + this.#takeEnding(first.choice)
  }

  /** Starts the message. Azure's first chunk has neither a choice nor an id; the next chunk has both. */
  #start({ id, model }: JsonObject, hasChoice: boolean): string {
    if (!hasChoice && stringOf(id) === '') return ''
    const message = {
      id: stringOf(id) || this.#options.id,
      type: 'message',
      role: 'assistant',
      model: stringOf(model) || this.#options.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: NO_USAGE,
    }
    this.#blocks = new AnswerBlocks(message.id)
    const event = { type: 'message_start', message }
    return printEvent(event)
  }

  #write(blocks: AnswerBlocks, delta: JsonObject | undefined, place: Place): string {
    if (delta === undefined) return ''
    let events = ''
    const thinking = reasoningOf(delta)
    if (thinking !== '') events += blocks.prose('thinking', thinking)
    const text = textOf(delta)
    if (text !== '') events += blocks.prose('text', text)
    if (typeof delta.refusal === 'string' && delta.refusal !== '') {
      this.#hasRefused = true
      events += blocks.prose('text', delta.refusal)
    }
    if (delta.tool_calls || delta.function_call) for (const call of callsOf(delta, place)) events += blocks.call(call)
    return blocks.problem === undefined ? events : events + this.#fail(problemOf(blocks.problem))
  }

  #takeEnding({ finish_reason: reason, stop_reason: stoppedBy }: JsonObject): string {
    if (this.#phase !== 'open' || typeof reason !== 'string' || reason === '') return ''
    if (isBrokenOff(reason)) return this.#fail(problemOf(`finish reason ${reason}`))
    this.#finishReason = reason
    this.#stoppedBy = stoppedBy
    return ''
  }

  #complete(): string {
    if (this.#blocks === undefined) return ''
    this.#phase = 'complete'
    const blocks = this.#blocks.finish()
    const delta = messageEndingOf({
      finishReason: this.#finishReason,
      stoppedBy: this.#stoppedBy,
      hasRefused: this.#hasRefused,
      hasCalled: this.#blocks.hasCalls,
    })
    const end = { type: 'message_delta', delta, usage: this.#usage?.raw ?? NO_USAGE }
    return blocks + printEvent(end) + printEvent({ type: 'message_stop' })
  }

  #fail(chunk: JsonObject): string {
    this.#phase = 'failed'
    return printEvent(messagesErrorOf(undefined, chunk))
  }
}

function problemOf(what: string): JsonObject {
  return { error: { message: `The provider's stream broke off: ${what}.` } }
}
