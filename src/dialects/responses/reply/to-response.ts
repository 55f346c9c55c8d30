import { utf8Of } from '../../../core/json/raw-json.ts'
import { ScanError } from '../../../core/json/scan.ts'
import { eventsOfMessage } from '../../../core/reply/stream-of-message.ts'
import type { RequestDocument } from '../../../core/request/request.ts'
import { ResponseEvents, type ResponseOptions } from './to-response-events.ts'

/**
 * Converts a message's JSON to the response to `request`: the one that ends the stream of the same message. Returns
 * `undefined` for another object.
 */
export function toResponse(message: Buffer, request: RequestDocument, options: ResponseOptions): Buffer | undefined {
  try {
    const events = new ResponseEvents(request, { ...options, isWhole: true })
    for (const { name, data } of eventsOfMessage(message)) events.event(name, utf8Of(data))
    return events.response === undefined ? undefined : Buffer.from(events.response)
  } catch (error) {
    if (error instanceof ScanError || error instanceof SyntaxError) return undefined
    throw error
  }
}
