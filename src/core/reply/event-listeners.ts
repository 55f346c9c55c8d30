import type { EventTranslator } from './event-translator.ts'
import type { ReplyDialect } from './reply-dialect.ts'
import { scanEvents } from './sse.ts'
import { startedEvents } from './started-blocks.ts'

/** A listener of single Messages events: the event's name and its data as text, which the listener parses if needed. */
export type EventListener = (name: string, data: string) => void

/** A listener of single events: the event's name, and its data as the bytes of `source` from `start` to `end`. */
export type EventBytesListener = (name: string, source: Buffer, start: number, end: number) => void

/** Listeners of a stream's events: in its own dialect, and in the Messages shape, into which they are translated. */
export class EventListeners {
  readonly #dialect: ReplyDialect
  readonly #own: EventBytesListener[] = []
  readonly #listeners: { readonly names: ReadonlySet<string> | undefined; readonly listener: EventBytesListener }[] = []
  #translator: EventTranslator | undefined

  constructor(dialect: ReplyDialect) {
    this.#dialect = dialect
  }

  get isEmpty(): boolean {
    return this.#own.length === 0 && this.#listeners.length === 0
  }

  /** Adds a listener of all events in the stream's own dialect. */
  addOwn(listener: EventBytesListener): void {
    this.#own.push(listener)
  }

  /** Adds a listener of the Messages events named (all when `names` is undefined). */
  add(listener: EventBytesListener, names: ReadonlySet<string> | undefined): void {
    this.#translator ??= this.#dialect.toMessagesEvents?.()
    this.#listeners.push({ names, listener })
  }

  /** Passes on one event of the stream; `text` is its data, if that has been decoded already. */
  tell(name: string, source: Buffer, start: number, end: number, text?: string): void {
    for (const listener of this.#own) listener(name, source, start, end)
    if (this.#listeners.length === 0) return
    if (this.#translator !== undefined) {
      this.#tellTranslated(this.#translator.event(name, text ?? source.toString('utf8', start, end)))
      return
    }
    this.#tellMessages(name, source, start, end)
    if (name === 'message_start') this.#tellStarted(text ?? source.toString('utf8', start, end))
  }

  /** Passes on the events with which a translation ends. */
  end(): void {
    if (this.#translator !== undefined) this.#tellTranslated(this.#translator.end())
  }

  #tellTranslated(events: string): void {
    scanEvents(Buffer.from(events), this.#tellMessages)
  }

  #tellStarted(data: string): void {
    for (const event of startedEvents(data)) {
      const bytes = Buffer.from(event.data)
      this.#tellMessages(event.name, bytes, 0, bytes.length)
    }
  }

  #tellMessages = (name: string, source: Buffer, start: number, end: number): void => {
    for (const { names, listener } of this.#listeners) {
      if (names === undefined || names.has(name)) listener(name, source, start, end)
    }
  }
}
