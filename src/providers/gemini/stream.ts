/**
 * DESIGN: Gemini's stream of answers as a stream of Messages events.
 *
 *     GenerateContentResponse ─► piece ─► parts ─► block events
 *                                  └─ reason, usage ──────────────► message_delta, message_stop at the end
 *
 * Guarantees: text and arguments are slices of the provider's bytes; a call comes whole, so its block does too. The end is
 * sent only when the provider gave a finish reason and its stream ended well, since usage may follow the reason.
 * An unreadable event ends the answer with an `error` event: its content would be missing.
 */

import { latin1Of, NotConvertible, utf8Of } from '../../core/json/raw-json.ts'
import { ScanError } from '../../core/json/scan.ts'
import type { EventTranslator } from '../../core/reply/event-translator.ts'
import { readUsage, type Usage } from '../../core/reply/usage.ts'
import { BlockEvents, printRawEvent } from './block-events.ts'
import { statusOfError, toMessagesError } from './errors.ts'
import { type Piece, parsePiece } from './piece.ts'
import { toStopReason } from './stop-reasons.ts'
import { type MessagesUsage, toMessagesUsage } from './usage.ts'

/** Identity of the message that a stream becomes. */
export interface MessageIdentity {
  /** The model's name that the client sees. */
  readonly model: string
  /** The message's id when the reply has no responseId. */
  readonly id: string
}

const NO_USAGE: MessagesUsage = {
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 0,
}
const UNREADABLE = { error: { message: 'The provider sent an event that cannot be read.' } }

/** Translates the events of `streamGenerateContent?alt=sse` to Messages events. */
export function createMessagesEvents({ model, id }: MessageIdentity): EventTranslator {
  return new GeminiEvents({ model, id })
}

class GeminiEvents implements EventTranslator {
  readonly #identity: MessageIdentity
  readonly #blocks: BlockEvents
  #hasStarted = false
  #hasFailed = false
  #hasEnded = false
  #finish: { reason: string; message: string | undefined } | undefined
  #counts: Record<string, unknown> = {}

  constructor(identity: MessageIdentity) {
    this.#identity = identity
    this.#blocks = new BlockEvents(identity.id)
  }

  get isComplete(): boolean {
    return this.#hasEnded
  }

  get hasFailed(): boolean {
    return this.#hasFailed
  }

  get usage(): Usage | undefined {
    return readUsage(toMessagesUsage(this.#counts))
  }

  event(_name: string, data: string): string {
    if (this.#hasFailed || data.trim() === '') return ''
    try {
      return this.#add(parsePiece(data), data)
    } catch (error) {
      const isOurs = error instanceof NotConvertible || error instanceof ScanError || error instanceof SyntaxError
      if (!isOurs) throw error
      return this.#fail(JSON.stringify(UNREADABLE))
    }
  }

  end(): string {
    if (this.#finish === undefined || this.#hasFailed || this.#hasEnded) return ''
    this.#hasEnded = true
    const { reason, message } = this.#finish
    const stopReason = toStopReason(reason, this.#blocks.hasCalls)
    const explanation = message ?? latin1Of(JSON.stringify(reason))
    const details =
      stopReason === 'refusal' ? `,"stop_details":{"type":"refusal","category":null,"explanation":${explanation}}` : ''
    const delta = `{"stop_reason":"${stopReason}","stop_sequence":null${details}}`
    const usage = JSON.stringify(toMessagesUsage(this.#counts) ?? NO_USAGE)
    const ending =
      printRawEvent('message_delta', `,"delta":${delta},"usage":${usage}`) + printRawEvent('message_stop', '')
    return utf8Of(this.#blocks.close() + ending)
  }

  #add(piece: Piece, data: string): string {
    if (piece.isError) return this.#fail(data)
    // Counts are cumulative, and the first events do not have all of them.
    if (typeof piece.usage === 'object') this.#counts = { ...this.#counts, ...piece.usage }
    if (piece.finishReason !== undefined) this.#finish = { reason: piece.finishReason, message: piece.finishMessage }
    const started = this.#start(piece)
    return utf8Of(started + piece.parts.map((part) => this.#blocks.add(part)).join(''))
  }

  #start({ responseId }: Piece): string {
    if (this.#hasStarted) return ''
    this.#hasStarted = true
    const { model, id } = this.#identity
    const usage = JSON.stringify({ ...(toMessagesUsage(this.#counts) ?? NO_USAGE), output_tokens: 0 })
    const names = `"model":${latin1Of(JSON.stringify(model))},"id":${responseId ?? latin1Of(JSON.stringify(id))}`
    const rest = `"type":"message","role":"assistant","content":[],"stop_reason":null,"stop_sequence":null`
    return printRawEvent('message_start', `,"message":{${names},${rest},"usage":${usage}}`)
  }

  #fail(data: string): string {
    this.#hasFailed = true
    const body = Buffer.from(data)
    return `event: error\ndata: ${toMessagesError(statusOfError(body), body)}\n\n`
  }
}
