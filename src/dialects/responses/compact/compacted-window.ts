import { isObject, type JsonObject, tryParseJson } from '../../../core/json/json-value.ts'
import type { RequestDocument } from '../../../core/request/request.ts'

/** Characters of the user's messages that stay beside the summary: the newest. */
const MOST_KEPT_CHARACTERS = 64 * 1024

/** Returns the reply of `/responses/compact`: the user's newest messages, and the compaction of the response. */
export function toCompactedWindow(response: Buffer, request: RequestDocument): Buffer {
  // Safe: the response of this gateway.
  const { id, created_at, output, usage } = tryParseJson(response) as JsonObject & { output: JsonObject[] }
  const kept = keptMessages(request.field('input'))
  const messages = kept.map((message, index) => ({ id: `msg_${id}_${index}`, ...message }))
  const items = [...messages, ...output]
  return Buffer.from(JSON.stringify({ id, object: 'response.compaction', created_at, output: items, usage }))
}

function keptMessages(input: unknown): JsonObject[] {
  const items: unknown[] = typeof input === 'string' ? [{ role: 'user', content: input }] : []
  const kept: JsonObject[] = []
  let characters = 0
  for (const item of (Array.isArray(input) ? input : items).toReversed()) {
    if (!isObject(item) || item.role !== 'user') continue
    characters += JSON.stringify(item).length
    if (characters > MOST_KEPT_CHARACTERS) break
    const { role, content } = item
    const parts = typeof content === 'string' ? [{ type: 'input_text', text: content }] : content
    kept.unshift({ type: 'message', status: 'completed', role, content: parts })
  }
  return kept
}
