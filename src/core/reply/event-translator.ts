import type { Usage } from './usage.ts'

/** Translates one dialect's stream of events into another's, one event at a time. */
export interface EventTranslator {
  /** Translates one event; returns the text of the events to send, each with its blank line, or '' for none. */
  event(name: string, data: string): string
  /** Called when the source has ended well; returns the remaining events. */
  end(): string
  /** True if the whole reply has been read; decided after `end`. */
  readonly isComplete: boolean
  /** The source itself sent an error, which has been passed on as one. */
  readonly hasFailed: boolean
  /** Token counts that the stream has reported so far. */
  readonly usage: Usage | undefined
}
