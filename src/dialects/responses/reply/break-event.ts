import { isObject, type JsonObject, tryParseJson } from '../../../core/json/json-value.ts'
import { scanEvents } from '../../../core/reply/sse.ts'
import { recordOf } from '../../chat/reply/narrow.ts'
import type { PassedPortions } from '../../client-dialect.ts'

const CODE = 'server_error'

/** Returns the events with which a relayed stream of Responses breaks off: they continue its numbers and its response. */
export function breakEvent(message: string, { first, last }: Pick<PassedPortions, 'first' | 'last'>): string {
  const response = eventsOf(first).map((event) => recordOf(event.response))[0]
  const numbers = eventsOf(last).map(({ sequence_number: number }) => (typeof number === 'number' ? number : -1))
  const passed = Math.max(-1, ...numbers)
  const begun = passed === 0 ? [{ type: 'response.in_progress', sequence_number: 1, response }] : []
  const number = passed + 1 + begun.length
  const error = { code: CODE, message, param: null }
  const broken = { type: 'error', sequence_number: number, ...error, error: { type: 'api_error', ...error } }
  const failed = {
    type: 'response.failed',
    sequence_number: number + 1,
    response: { ...response, status: 'failed', error: { code: CODE, message } },
  }
  const printed = [...begun, broken, failed].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  return `${printed.join('')}data: [DONE]\n\n`
}

function eventsOf(portion: Buffer | undefined): JsonObject[] {
  const events: JsonObject[] = []
  scanEvents(portion ?? Buffer.alloc(0), (_name, bytes, start, end) => {
    const event = tryParseJson(bytes.toString('utf8', start, end))
    if (isObject(event)) events.push(event)
  })
  return events
}
