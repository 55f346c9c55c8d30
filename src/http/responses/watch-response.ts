import { isObject, type JsonObject, tryParseJson } from '../../core/json/json-value.ts'
import { scanEvents } from '../../core/reply/sse.ts'
import type { ReplyWatch } from '../reply-watch.ts'

const LAST = ['response.completed', 'response.incomplete']
const ALL = ['response.created', ...LAST]

/**
 * Creates a watch that calls `onResponse` with the response object of a reply: a JSON body, or the last event of a stream, and
 * its first one where the response outlives the stream.
 */
export function watchResponse(onResponse: (response: JsonObject) => void, { outlives = false } = {}): ReplyWatch {
  const names = outlives ? ALL : LAST
  return {
    body(bytes) {
      const response = tryParseJson(bytes)
      if (isObject(response) && response.object === 'response' && response.status !== 'failed') onResponse(response)
    },
    portion(portion) {
      if (!names.some((name) => portion.includes(name))) return
      const bytes = typeof portion === 'string' ? Buffer.from(portion) : portion
      scanEvents(bytes, (name, source, start, end) => {
        if (!names.includes(name)) return
        const event = tryParseJson(source.subarray(start, end))
        if (isObject(event) && isObject(event.response)) onResponse(event.response)
      })
    },
  }
}
