/**
 * DESIGN: a Messages stream as a stream of Responses events
 *
 *   message_start ──► created, in_progress     blocks ──► items (`output.ts`)     message_delta ──► items closed
 *   message_stop ──► completed or incomplete, with usage, and [DONE]              error ──► error, failed, and [DONE]
 *   ping ──► a comment
 *
 * Guarantees, whatever the provider sends and wherever it ends
 * - The first two events are created and in_progress; the last is completed, incomplete or failed, and there is one.
 * - `sequence_number` counts from 0. An item has one id and one index; its deltas, joined, are its content when done.
 * - Items and parts are added, extended and done in this order; all are done before completed or incomplete.
 * Limits: the events repeat the whole reply at its end, so it is held until then, up to `MOST_CHARACTERS`; a longer one
 * fails. Citations and results of the provider's own tools have no equivalent there.
 * Source of shapes: OpenAI, API reference, "Streaming events"; Open Responses, 2026-04-24.
 */
import { type JsonObject, tryParseJson } from '../../../core/json/json-value.ts'
import type { EventTranslator } from '../../../core/reply/event-translator.ts'
import { startedEvents } from '../../../core/reply/started-blocks.ts'
import { mergeUsage, readUsage, type Usage } from '../../../core/reply/usage.ts'
import type { RequestDocument } from '../../../core/request/request.ts'
import { recordOf, stringOf } from '../../chat/reply/narrow.ts'
import { toolNamesOf } from '../tool-names.ts'
import { incompleteReasonOf, type StreamError, streamErrorOf } from './endings.ts'
import { EventPrinter } from './event-printer.ts'
import { type ItemWriter, Output, type OutputOptions } from './output.ts'
import { printResponse, type ResponseState } from './response-object.ts'
import { toResponsesUsage } from './usage.ts'

/** Sources of the values that are new in each response. */
export interface ResponseOptions {
  /** Seconds since 1970. */
  readonly nowSeconds: () => number
  /** Returns an id for a message without one. */
  readonly newId: () => string
  /** True if only the last response is read, so that the first events need not repeat the request. */
  readonly isWhole?: boolean
  /** True if the gateway stores responses, unless a request has `store: false`. Default: false. */
  readonly keepsResponses?: boolean
  /** Creates the writer of the items. Default: of every block. */
  readonly createOutput?: ((options: OutputOptions) => ItemWriter) | undefined
}

const PING = ': ping\n\n'
const DONE = 'data: [DONE]\n\n'
/** Characters of a provider's events, which bound the reply that is held. */
const MOST_CHARACTERS = 64 * 1024 * 1024
const TOO_LARGE: StreamError = {
  type: 'api_error',
  code: 'server_error',
  message: 'The reply is larger than 64 MB, the most that can be repeated at its end.',
}
/** Clients repeat no request with this code. */
const UNUSABLE = { type: 'invalid_request_error', code: 'invalid_prompt' }
const RESPONSE = 'resp_'
const NOT_FOR_IDS = /^msg_|[^\w-]/g

/** Translates Messages events into events of a response to `request`. */
export class ResponseEvents implements EventTranslator {
  readonly #request: RequestDocument
  readonly #options: ResponseOptions
  readonly #createdAt: number
  readonly #events = new EventPrinter()
  #phase: 'before' | 'open' | 'complete' | 'failed' = 'before'
  #idBase = ''
  #model = ''
  #output: ItemWriter | undefined
  #usage: Usage | undefined
  /** The stop reason; its items are closed then, and nothing may follow. */
  #stop: { readonly reason: string } | undefined
  #characters = 0
  #response: string | undefined

  constructor(request: RequestDocument, options: ResponseOptions) {
    this.#request = request
    this.#options = options
    this.#createdAt = options.nowSeconds()
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

  /** The response as JSON, once it is complete. */
  get response(): string | undefined {
    return this.#phase === 'complete' ? this.#response : undefined
  }

  event(name: string, data: string): string {
    if (this.#phase === 'complete' || this.#phase === 'failed') return ''
    if (name === 'ping') return PING
    this.#characters += data.length
    const event = recordOf(tryParseJson(data))
    if (event === undefined) return ''
    if (event.type === 'error') return this.#fail(streamErrorOf(event))
    if (this.#characters > MOST_CHARACTERS) return this.#fail(TOO_LARGE)
    if (event.type === 'message_start') return this.#phase === 'before' ? this.#start(event, data) : ''
    return this.#output === undefined ? '' : this.#write(event, data, this.#output)
  }

  end(): string {
    return ''
  }

  #start(event: JsonObject, data: string): string {
    const message = recordOf(event.message)
    this.#usage = readUsage(message?.usage)
    const begun = this.#begin(stringOf(message?.id), stringOf(message?.model))
    return startedEvents(data).reduce((text, { name, data }) => text + this.event(name, data), begun)
  }

  #begin(id: string, model: string): string {
    this.#phase = 'open'
    this.#idBase = id.replaceAll(NOT_FOR_IDS, '') || this.#options.newId()
    this.#model = model || this.#request.model
    const output = { events: this.#events, toolNames: toolNamesOf(this.#request), idBase: this.#idBase }
    this.#output = this.#options.createOutput?.(output) ?? new Output(output)
    if (this.#options.isWhole) return ''
    const response = `"response":${this.#print({ status: 'in_progress' })}`
    return this.#events.print('response.created', response) + this.#events.print('response.in_progress', response)
  }

  #write(event: JsonObject, data: string, output: ItemWriter): string {
    if (event.type === 'message_delta') return this.#endMessage(event, output)
    if (event.type === 'message_stop') return this.#complete(output)
    if (this.#stop !== undefined) return ''
    if (event.type === 'content_block_delta') return output.extendBlock(event)
    if (event.type === 'content_block_start') return output.startBlock(event, data)
    return event.type === 'content_block_stop' ? output.stopBlock(event) : ''
  }

  #endMessage({ delta, usage }: JsonObject, output: ItemWriter): string {
    const counts = readUsage(usage)
    if (counts !== undefined) this.#usage = mergeUsage(this.#usage, counts)
    const reason = recordOf(delta)?.stop_reason
    return typeof reason === 'string' ? this.#finish(reason, output) : ''
  }

  #finish(reason: string, output: ItemWriter): string {
    if (this.#stop !== undefined) return ''
    this.#stop = { reason }
    return output.end(incompleteReasonOf(reason) === undefined ? 'completed' : 'incomplete')
  }

  #complete(output: ItemWriter): string {
    const finish = this.#finish('end_turn', output)
    if (output.fault !== undefined) return finish + this.#fail({ ...UNUSABLE, message: output.fault })
    const incompleteReason = incompleteReasonOf(this.#stop?.reason)
    const status = incompleteReason === undefined ? 'completed' : 'incomplete'
    this.#response = this.#print({
      status,
      incompleteReason,
      completedAt: status === 'completed' ? this.#options.nowSeconds() : null,
      output: output.items,
      usage: toResponsesUsage(this.#usage),
    })
    this.#phase = 'complete'
    return `${finish}${this.#events.print(`response.${status}`, `"response":${this.#response}`)}${DONE}`
  }

  #fail({ type, code, message }: StreamError): string {
    const begun = this.#phase === 'before' ? this.#begin('', '') : ''
    this.#phase = 'failed'
    const error = JSON.stringify({ code, message, param: null, error: { type, code, message, param: null } })
    const failed = this.#print({
      status: 'failed',
      error: { code, message },
      output: this.#output?.items ?? [],
      usage: this.#usage === undefined ? null : toResponsesUsage(this.#usage),
    })
    return (
      begun +
      this.#events.print('error', error.slice(1, -1)) +
      this.#events.print('response.failed', `"response":${failed}`) +
      DONE
    )
  }

  #print(state: Partial<ResponseState> & Pick<ResponseState, 'status'>): string {
    return printResponse(this.#request, {
      // A response that was rewritten keeps its provider's id, by which it is continued.
      id: this.#idBase.startsWith(RESPONSE) ? this.#idBase : `${RESPONSE}${this.#idBase}`,
      model: this.#model,
      createdAt: this.#createdAt,
      completedAt: null,
      error: null,
      incompleteReason: undefined,
      output: [],
      usage: null,
      isStored: this.#options.keepsResponses === true && this.#request.field('store') !== false,
      ...state,
    })
  }
}
