import { isObject, type JsonObject, tryParseJson } from '../../core/json/json-value.ts'
import { scanEvents } from '../../core/reply/sse.ts'
import type { ReplyWatch } from '../reply-watch.ts'

const LAST: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete'])
const LAST_WORDS = [...LAST]

/** Creates a watch that calls `onResponse` with the response object of a reply: a JSON body, or the last event of a stream. */
export function watchResponse(onResponse: (response: JsonObject) => void): ReplyWatch {
  return {
    body(bytes) {
      const response = tryParseJson(bytes)
      if (isObject(response) && response.object === 'response' && response.status !== 'failed') onResponse(response)
    },
    portion(portion) {
      if (!LAST_WORDS.some((name) => portion.includes(name))) return
      const bytes = typeof portion === 'string' ? Buffer.from(portion) : portion
      scanEvents(bytes, (name, source, start, end) => {
        if (!LAST.has(name)) return
        const event = tryParseJson(source.subarray(start, end))
        if (isObject(event) && isObject(event.response)) onResponse(event.response)
      })
    },
  }
}
