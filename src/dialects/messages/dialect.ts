import { printEvent } from '../../core/reply/sse.ts'
import { ClientRequest } from '../../core/request/client-request.ts'
import type { ClientDialect } from '../client-dialect.ts'
import { KnownBodies } from '../known-bodies.ts'
import { parseMessagesRequest } from './parse.ts'

/** Creates the canonical dialect: replies pass unchanged. */
export function createMessagesDialect(): ClientDialect {
  const known = new KnownBodies()
  return {
    name: 'messages',
    requestIdHeader: 'request-id',
    parse: (bytes) => new ClientRequest(known.recognise(bytes, parseMessagesRequest)),
    render: (reply) => reply,
    createTranslator() {
      throw new Error('replies of the canonical dialect are not translated for its clients')
    },
    errorBody: (error, requestId) => ({ ...error.toBody(), request_id: requestId }),
    ping: {
      text: printEvent({ type: 'ping' }),
      from: 'message_start',
      until: 'message_stop',
      isLast: (name, data) =>
        name === 'message_stop' || (name === 'message' && /"type"\s*:\s*"message_stop"/.test(data)),
    },
    breakEvent: (message) => {
      const event = { type: 'error', error: { type: 'api_error', message } }
      return printEvent(event)
    },
  }
}
