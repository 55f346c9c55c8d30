import { parseEventData } from '../../../core/sse.ts'
import type { StreamEnd } from '../../../core/stream-end.ts'
import { readUsage } from '../../../core/usage.ts'
import { recordOf } from './narrow.ts'
import { toChatUsage } from './usage.ts'

/** Ends a stream of chat completion chunks early, with the finish reason `length`. */
export function createChatEnd(): StreamEnd {
  let first: string | undefined
  return {
    see(_name, data) {
      // The first chunk has what all chunks share.
      first ??= data
    },
    atLimit(usage) {
      const { id, created, model } = recordOf(parseEventData(first ?? '')) ?? {}
      const head = { id, object: 'chat.completion.chunk', created, model }
      const last = { ...head, choices: [{ index: 0, delta: {}, finish_reason: 'length' }] }
      const counted = readUsage(usage)
      const told = counted && { ...head, choices: [], usage: toChatUsage(counted) }
      return [last, ...(told === undefined ? [] : [told])].map(printChunk).join('') + printChunk('[DONE]')
    },
  }
}

function printChunk(chunk: object | string): string {
  return `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`
}
