import { printEvent } from './sse.ts'

/**
 * Ends a stream early, as the provider itself would where `max_tokens` is used up: the reply is valid, and says why it is
 * short. It has seen all that was passed on, so it knows what is open.
 */
export interface StreamEnd {
  /** Sees an event that is passed on, in the dialect of the stream. */
  see(name: string, data: string): void
  /** The events that end the stream; `usage` in the members of the Messages shape. */
  atLimit(usage: Readonly<Record<string, unknown>>): string
}

/** For streams of the canonical dialect. */
export function createMessagesEnd(): StreamEnd {
  let openBlock: number | undefined
  return {
    see(name, data) {
      if (name === 'content_block_stop') openBlock = undefined
      else if (name === 'content_block_start') openBlock = indexOf(data)
    },
    atLimit(usage) {
      const stop = openBlock === undefined ? '' : printEvent(blockStop(openBlock))
      return stop + printEvent(messageDelta(usage)) + printEvent({ type: 'message_stop' })
    },
  }
}

function blockStop(index: number) {
  return { type: 'content_block_stop', index }
}

function messageDelta(usage: Readonly<Record<string, unknown>>) {
  return { type: 'message_delta', delta: { stop_reason: 'max_tokens', stop_sequence: null }, usage }
}

const INDEX = /"index"\s*:\s*(\d+)/

function indexOf(data: string): number {
  return Number(INDEX.exec(data)?.[1] ?? 0)
}
