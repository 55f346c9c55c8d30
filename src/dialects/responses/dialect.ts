import { randomBytes } from 'node:crypto'
import { BytesReply } from '../../core/reply/reply.ts'
import { ClientRequest } from '../../core/request/client-request.ts'
import type { RequestDocument } from '../../core/request/request.ts'
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
import { continuedRequest, type StoredConversation } from './state/continued-request.ts'
import { toMessagesRequest } from './to-messages-request.ts'

const ID_BYTES = 12
/** Blocks that a response represents beside those of a completion. */
const CARRIED = new Set(['redacted_thinking', 'server_tool_use'])

/** The dialect of Responses, which can continue a stored conversation. */
export interface ResponsesDialect extends ClientDialect {
  /** Returns the request with the conversation before its own input. Throws `invalid_request`. */
  resume(document: RequestDocument, conversation: StoredConversation): ClientRequest
}

/** Options of the dialect. */
export interface ResponsesDialectOptions extends ChatDialectOptions {
  /** True if the gateway stores responses, unless a request has `store: false`. Default: false. */
  readonly keepsResponses?: boolean
}

/** OpenAI's Responses. */
export function createResponsesDialect({
  defaultMaxTokens,
  modelNamed,
  nowMs,
  keepsResponses = false,
}: ResponsesDialectOptions): ResponsesDialect {
  const known = new KnownBodies()
  const options: ResponseOptions = {
    nowSeconds: () => Math.floor(nowMs() / 1000),
    newId: () => randomBytes(ID_BYTES).toString('hex'),
    keepsResponses,
  }
  const toClient = (document: RequestDocument) =>
    new ClientRequest(document, RESPONSES_REPLIES, (document) =>
      toMessagesRequest(document, { defaultMaxTokens, modelNamed, keepsResponses }),
    )
  return {
    name: 'responses',
    requestIdHeader: 'x-request-id',
    parse: (bytes) => toClient(known.recognise(bytes, parseResponsesRequest)),
    resume: (document, conversation) => toClient(continuedRequest(document, conversation)),
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
