/**
 * DESIGN — replies
 *
 * A reply is bytes, or a stream of bytes. The client gets the provider's bytes: observers read them on the side.
 *
 *   provider ──► source ──► framer ──┬──► sink (the client, a cache's broadcast)
 *                                    └──► listeners: portions, events by name
 *
 * Guarantees
 * - Nothing flows until `open(sink)`; it is called once.
 * - The sink gets whole events only, so that a ping or an error event may follow any write.
 * - Events are parsed out only for listeners, and each listener parses the JSON it needs.
 * - `ended` settles exactly once, whether the stream completed, broke or was cancelled.
 * - Bytes are in the reply's `dialect`; listeners of events receive the canonical one, Messages, those of own events its own.
 * Limits: an event that is larger than the framer's bound is passed on in several chunks.
 */

import type { ByteSource, Ending, ReplySink } from './byte-source.ts'
import { type EventBytesListener, type EventListener, EventListeners } from './event-listeners.ts'
import { OutlineCollector, type ReplyOutline } from './outline.ts'
import { type ReplyFacts, readReply } from './read-reply.ts'
import { MESSAGES_REPLIES, type ReplyDialect } from './reply-dialect.ts'
import { EventFramer, scanEvents } from './sse.ts'
import type { StreamHead } from './stream-head.ts'
import { mergeUsage, type Usage } from './usage.ts'
import { StreamShown, type UsageCheck } from './usage-check.ts'

/** Response headers, lower-case names. */
export type ReplyHeaders = Record<string, string | string[]>

/** Optional facts of a JSON reply besides its bytes. */
export interface BytesReplyOptions {
  usage?: Usage | undefined
  /** Default: Messages. */
  dialect?: ReplyDialect | undefined
}

/** A reply whose bytes are complete. */
export class BytesReply {
  readonly kind = 'bytes'
  readonly status: number
  readonly headers: ReplyHeaders
  readonly bytes: Buffer
  /** The shape of `bytes`. */
  readonly dialect: ReplyDialect
  /** Set if it was known from the start. */
  readonly #usage: Usage | undefined
  #check: UsageCheck | undefined
  #facts: ReplyFacts | undefined

  /** `usage` if it is known already, as for a replay. */
  constructor(status: number, headers: ReplyHeaders, bytes: Buffer, { usage, dialect }: BytesReplyOptions = {}) {
    this.status = status
    this.headers = headers
    this.bytes = bytes
    this.dialect = dialect ?? MESSAGES_REPLIES
    this.#usage = usage
  }

  /** Token counts of a successful message, read from its bytes on first use. */
  get usage(): Usage | undefined {
    return this.#usage ?? this.#read()?.usage
  }

  /** Stop reason and tool calls of a successful message, read from its bytes on first use. */
  get outline(): ReplyOutline | undefined {
    return this.#read()?.outline
  }

  /** True if a success is one JSON object from the first byte to the last: not a page, and not truncated. */
  get isWhole(): boolean {
    return this.#read()?.isWhole ?? false
  }

  #read(): ReplyFacts | undefined {
    if (this.status === 200) this.#facts ??= readReply(this, this.#usage === undefined ? this.#check : undefined)
    return this.#facts
  }

  /** Sets a check that the usage passes; to be called before its first use. */
  checkUsage(check: UsageCheck): void {
    this.#check = check
  }

  /** Ending of the reply; a JSON reply is complete when it is a success. */
  get ended(): Promise<Ending> {
    return Promise.resolve({ outcome: this.status === 200 ? 'complete' : 'incomplete', usage: this.usage })
  }

  cancel(): void {}
}

/** A reply that streams server-sent events. */
export class StreamReply {
  readonly kind = 'stream'
  readonly status: number
  readonly headers: ReplyHeaders
  /** The shape of the bytes. */
  readonly dialect: ReplyDialect
  readonly ended: Promise<Ending>
  /** The value of `ended`, once that has resolved. */
  ending: Ending | undefined
  #source: ByteSource
  #framer: EventFramer | undefined
  #sink: ReplySink | undefined
  #portionListeners: ((portion: Buffer) => void)[] = []
  readonly #listeners: EventListeners
  #usage: Usage | undefined
  #check: { readonly usage: UsageCheck; readonly shown: StreamShown } | undefined
  readonly #outline = new OutlineCollector()
  /** Outline of the stream that this one passes on. */
  #passedOutline: ReplyOutline | undefined
  #sawStop = false
  #sawFinish = false
  #sawError = false
  #settled = false
  #settle: (ending: Ending) => void

  constructor({ status, headers, isWhole, dialect = MESSAGES_REPLIES }: StreamHead, source: ByteSource) {
    this.status = status
    this.headers = headers
    this.dialect = dialect
    this.#listeners = new EventListeners(dialect)
    this.#source = source
    this.#framer = isWhole ? undefined : new EventFramer()
    const { promise, resolve } = Promise.withResolvers<Ending>()
    this.ended = promise
    this.#settle = resolve
  }

  /** Token counts that the stream has reported so far. */
  get usage(): Usage | undefined {
    return this.#usage
  }

  /** Stop reason and tool calls, as far as the stream has shown them. */
  get outline(): ReplyOutline {
    return this.#passedOutline ?? this.#outline
  }

  /** True if `open` was called: an unopened stream must be cancelled by the code that drops it. */
  get opened(): boolean {
    return this.#sink !== undefined
  }

  /** True if the last write may have ended inside an event (beyond the framer's bound): nothing may be inserted after it. */
  get isTorn(): boolean {
    return this.#framer?.torn ?? false
  }

  /** Calls `listener` for the events named (all when `names` is undefined), before their bytes go on to the client. */
  onEvent(listener: EventListener, names?: ReadonlySet<string>): void {
    this.onEventBytes((name, source, start, end) => listener(name, source.toString('utf8', start, end)), names)
  }

  /** As `onEvent`, with the data as bytes. */
  onEventBytes(listener: EventBytesListener, names?: ReadonlySet<string>): void {
    this.#listeners.add(listener, names)
  }

  /** Calls `listener` for every event in the reply's own dialect, before its bytes go on. */
  onOwnEvent(listener: EventBytesListener): void {
    this.#listeners.addOwn(listener)
  }

  /** Sets a check that the usage of a complete reply passes at its end; to be called before `open`. */
  checkUsage(check: UsageCheck): void {
    this.#check = { usage: check, shown: new StreamShown(this.dialect.written) }
  }

  /** Calls `listener` with the bytes of whole events, as they are passed on. */
  onPortion(listener: (portion: Buffer) => void): void {
    this.#portionListeners.push(listener)
  }

  /** Starts the flow into `sink`. Throws when the stream was opened before. */
  open(sink: ReplySink): void {
    if (this.#sink !== undefined) throw new Error('reply stream opened twice')
    this.#sink = sink
    this.#source.start(this)
  }

  resume(): void {
    this.#source.resume()
  }

  /** Stops the provider, since the rest is not needed. A no-op after the end. */
  cancel(): void {
    if (this.#settled) return
    this.#source.cancel()
    // The source may have reported its ending meanwhile.
    if (!this.#settled) this.#finish({ outcome: 'cancelled', usage: this.#usage })
  }

  /** @internal called by the source */
  data(chunk: Buffer): void {
    if (this.#settled) return
    const portion = this.#framer === undefined ? chunk : this.#framer.push(chunk)
    if (portion !== undefined) this.#forward(portion)
  }

  /** @internal called by the source */
  end(ending?: Ending): void {
    if (this.#settled) return
    if (ending !== undefined) {
      this.#usage = ending.usage
      this.#passedOutline = ending.outline
      this.#finish(ending)
      return
    }
    if (this.#sawFinish) this.#sawStop = true
    // An event without its blank line is no event; clients would ignore it, too.
    if (this.#isWhole) this.#finishWhole()
    else this.fail(new Error('the provider ended the stream before its answer was whole'))
  }

  /** @internal called by the source. After `message_stop` nothing is missing, however the connection ended. */
  fail(error: Error): void {
    if (this.#settled) return
    if (this.#isWhole) this.#finishWhole()
    else this.#finish(this.#incomplete(error))
  }

  get #isWhole(): boolean {
    return this.#sawStop && !this.#sawError
  }

  #finishWhole(): void {
    this.#finish({ outcome: 'complete', usage: this.#usage })
  }

  /** Makes the ending of a stream whose own error event has reached the client already. */
  #incomplete(error: Error): Ending {
    return this.#sawError
      ? { outcome: 'incomplete', usage: this.#usage }
      : { outcome: 'incomplete', usage: this.#usage, error }
  }

  #forward(portion: Buffer): void {
    const isScanned = this.#framer !== undefined || this.#check !== undefined || !this.#listeners.isEmpty
    if (isScanned) scanEvents(portion, this.#observe)
    for (const listener of this.#portionListeners) listener(portion)
    if (this.#sink?.write(portion) === false) this.#source.pause()
  }

  #observe = (name: string, source: Buffer, start: number, end: number): void => {
    this.#check?.shown.see(name, source, start, end)
    const text = this.dialect.meteredEvents.has(name) ? source.toString('utf8', start, end) : undefined
    if (text !== undefined) this.#meter(name, text)
    this.#listeners.tell(name, source, start, end, text)
  }

  #meter(name: string, data: string): void {
    const sign = this.dialect.readEvent(name, data)
    if (sign !== undefined) this.#outline.add(sign)
    if (sign?.usage !== undefined) this.#usage = mergeUsage(this.#usage, sign.usage)
    if (sign?.kind === 'stop') this.#sawStop = true
    else if (sign?.kind === 'finish') this.#sawFinish = true
    else if (sign?.kind === 'error') this.#sawError = true
  }

  #finish(end: Ending): void {
    this.#settled = true
    const ending = { ...this.#checked(end), outline: this.outline }
    if (ending.outcome === 'complete') this.#listeners.end()
    this.ending = ending
    this.#settle(ending)
    this.#sink?.end(ending)
  }

  /** Checks the usage of a complete ending; the counts of a reply that broke off are those of that moment. */
  #checked(ending: Ending): Ending {
    if (this.#check === undefined || ending.outcome !== 'complete') return ending
    this.#usage = this.#check.usage(ending.usage, this.#check.shown)
    return { ...ending, usage: this.#usage }
  }
}

/** A reply of a provider or a plugin. */
export type Reply = BytesReply | StreamReply

/** Makes a JSON reply of the gateway itself. */
export function jsonReply(body: unknown, { status = 200, headers = {} as ReplyHeaders } = {}): BytesReply {
  return new BytesReply(status, { 'content-type': 'application/json', ...headers }, Buffer.from(JSON.stringify(body)))
}
