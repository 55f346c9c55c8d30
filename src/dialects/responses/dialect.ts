import { randomBytes } from 'node:crypto'
import { BytesReply } from '../../core/reply/reply.ts'
import { ClientRequest } from '../../core/request/client-request.ts'
import type { ChatDialectOptions } from '../chat/dialect.ts'
import { chatErrorBody } from '../chat/error-body.ts'
import { withDroppedContent } from '../chat/reply/dropped-content.ts'
import { toChatError } from '../chat/reply/errors.ts'
import type { ClientDialect } from '../client-dialect.ts'
import { KnownBodies } from '../known-bodies.ts'
import { renderProviderError, toResponsesError } from './limit-error.ts'
import { parseResponsesRequest } from './parse.ts'
import { RESPONSES_REPLIES } from './replies.ts'
import { breakEvent } from './reply/break-event.ts'
import { toResponse } from './reply/to-response.ts'
import { ResponseEvents, type ResponseOptions } from './reply/to-response-events.ts'
import { toMessagesRequest } from './to-messages-request.ts'

const ID_BYTES = 12
/** Blocks that a response represents beside those of a completion. */
const CARRIED = new Set(['redacted_thinking', 'server_tool_use'])

/** OpenAI's Responses. */
export function createResponsesDialect({ defaultMaxTokens, modelNamed, nowMs }: ChatDialectOptions): ClientDialect {
  const known = new KnownBodies()
  const options: ResponseOptions = {
    nowSeconds: () => Math.floor(nowMs() / 1000),
    newId: () => randomBytes(ID_BYTES).toString('hex'),
  }
  return {
    name: 'responses',
    requestIdHeader: 'x-request-id',
    parse: (bytes) =>
      new ClientRequest(known.recognise(bytes, parseResponsesRequest), RESPONSES_REPLIES, (document) =>
        toMessagesRequest(document, { defaultMaxTokens, modelNamed }),
      ),
    render(reply, { document }) {
      const { status, headers, bytes, usage } = reply
      if (status !== 200) return renderProviderError(reply)
      const shown = withDroppedContent(headers, bytes, CARRIED)
      const body = toResponse(bytes, document, options) ?? toChatError(status, bytes)
      return new BytesReply(status, shown, body, { usage, dialect: RESPONSES_REPLIES })
    },
    createTranslator: ({ document }) => new ResponseEvents(document, options),
    forClient: (error) => toResponsesError(error, nowMs()),
    errorBody: chatErrorBody,
    ping: { text: ': ping\n\n', from: undefined, until: '[DONE]', isLast: (_, data) => data.trim() === '[DONE]' },
    breakEvent,
  }
}
