import { printEvent } from './sse.ts'

/**
 * Ends a stream early, as the provider itself would when `max_tokens` is used up: the reply is valid, and gives the reason.
 * It reads all events that are passed on, so it knows the open blocks.
 */
export interface StreamEnd {
  /** Reads an event that will be passed on, in the dialect of the stream: its name, and its data as bytes of `source`. */
  see(name: string, source: Buffer, start: number, end: number): void
  /** Returns the events that end the stream; `usage` in the members of the Messages shape. */
  atLimit(usage: Readonly<Record<string, unknown>>): string
}

const INDEX = /"index"\s*:\s*(\d+)/

/** Creates the early end of streams of the canonical dialect. */
export function createMessagesEnd(): StreamEnd {
  let openBlock: number | undefined
  return {
    see(name, source, start, end) {
      if (name === 'content_block_stop') openBlock = undefined
      else if (name === 'content_block_start')
        openBlock = Number(INDEX.exec(source.toString('utf8', start, end))?.[1] ?? 0)
    },
    atLimit(usage) {
      const stop = { type: 'content_block_stop', index: openBlock }
      const delta = { type: 'message_delta', delta: { stop_reason: 'max_tokens', stop_sequence: null }, usage }
      return (
        (openBlock === undefined ? '' : printEvent(stop)) + printEvent(delta) + printEvent({ type: 'message_stop' })
      )
    },
  }
}
