import type { Usage } from './usage.ts'

/** Turns one dialect's stream of events into another's, one event at a time. */
export interface EventTranslator {
  /** Takes one event; gives the text of the events to pass on, each with its blank line, or '' for none. */
  event(name: string, data: string): string
  /** The source has ended well; gives what is left to say. */
  end(): string
  /** Whether all of an answer has been seen; decided after `end`. */
  readonly isComplete: boolean
  /** The source itself told of an error, which has been passed on as one. */
  readonly hasFailed: boolean
  /** Token counts as far as the stream has told them. */
  readonly usage: Usage | undefined
}
