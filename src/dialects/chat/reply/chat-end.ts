import { tryParseJson } from '../../../core/json/json-value.ts'
import type { StreamEnd } from '../../../core/reply/stream-end.ts'
import { readUsage } from '../../../core/reply/usage.ts'
import { recordOf } from './narrow.ts'
import { toChatUsage } from './usage.ts'

/** Ends a stream of chat completion chunks early, with the finish reason `length`; with counts for clients that requested them. */
export function createChatEnd({ includeUsage }: { includeUsage: boolean }): StreamEnd {
  let first: string | undefined
  return {
    see(_name, source, start, end) {
      // The first chunk has the members that all chunks share.
      first ??= source.toString('utf8', start, end)
    },
    atLimit(usage) {
      const { id, created, model } = recordOf(tryParseJson(first ?? '')) ?? {}
      const head = { id, object: 'chat.completion.chunk', created, model }
      const last = { ...head, choices: [{ index: 0, delta: {}, finish_reason: 'length' }] }
      const usageChunk = { ...head, choices: [], usage: toChatUsage(readUsage(usage)) }
      const counts = includeUsage ? `data: ${JSON.stringify(usageChunk)}\n\n` : ''
      return `data: ${JSON.stringify(last)}\n\n${counts}data: [DONE]\n\n`
    },
  }
}
