import { randomBytes } from 'node:crypto'
import { GatewayError } from '../../core/errors.ts'
import { BytesReply } from '../../core/reply/reply.ts'
import type { ClientRequest } from '../../core/request/client-request.ts'
import type { RequestDocument } from '../../core/request/request.ts'
import type { ChatDialectOptions } from '../chat/dialect.ts'
import { chatErrorBody } from '../chat/error-body.ts'
import { withDroppedContent } from '../chat/reply/dropped-content.ts'
import { toChatError } from '../chat/reply/errors.ts'
import type { ClientDialect } from '../client-dialect.ts'
import { KnownBodies } from '../known-bodies.ts'
import { messagesError } from '../render.ts'
import { type CompactionKind, openSummaries, triggeredKind } from './compact/compaction-request.ts'
import { outputOf, renderCompaction } from './compact/render-compaction.ts'
import { createSummarySeal, SUMMARY_PREFIX, type SummarySeal } from './compact/summary-seal.ts'
import { renderProviderError, toResponsesError } from './limit-error.ts'
import { parseResponsesRequest } from './parse.ts'
import { RESPONSES_REPLIES } from './replies.ts'
import { breakEvent } from './reply/break-event.ts'
import { toResponse } from './reply/to-response.ts'
import { ResponseEvents, type ResponseOptions } from './reply/to-response-events.ts'
import { compactingOf, ResponsesRequest } from './responses-request.ts'
import { continuedRequest, type StoredConversation } from './state/continued-request.ts'
import { toMessagesRequest } from './to-messages-request.ts'

const ID_BYTES = 12
/** Blocks that a response represents beside those of a completion. */
const CARRIED = new Set(['redacted_thinking', 'server_tool_use'])

/** The dialect of Responses, which can continue a stored conversation. */
export interface ResponsesDialect extends ClientDialect {
  /** Returns the request with the conversation before its own input. Throws `invalid_request`. */
  resume(client: ClientRequest, conversation: StoredConversation, scope: string): ClientRequest
}

/** Options of the dialect. */
export interface ResponsesDialectOptions extends ChatDialectOptions {
  /** True if the gateway stores responses, unless a request has `store: false`. Default: false. */
  readonly keepsResponses?: boolean
  /** Seals the summaries of compactions. Default: a seal of this process. */
  readonly seal?: SummarySeal
  /** Reads requests of `/responses/compact`. Default: of `/responses`. */
  readonly isCompact?: boolean
}

/** OpenAI's Responses. */
export function createResponsesDialect({
  defaultMaxTokens,
  modelNamed,
  nowMs,
  keepsResponses = false,
  seal = createSummarySeal(),
  isCompact = false,
}: ResponsesDialectOptions): ResponsesDialect {
  const known = new KnownBodies()
  const options: ResponseOptions = {
    nowSeconds: () => Math.floor(nowMs() / 1000),
    newId: () => randomBytes(ID_BYTES).toString('hex'),
    keepsResponses,
  }
  const toClient = (document: RequestDocument, { scope, kind }: { scope: string; kind: CompactionKind | undefined }) =>
    new ResponsesRequest(
      document,
      {
        kind,
        opened: openSummaries(document, { seal, scope }),
        seal: (summary) => seal.seal(summary, scope),
      },
      (document, compacting) =>
        toMessagesRequest(document, { defaultMaxTokens, modelNamed, keepsResponses, compacting }),
    )
  return {
    name: 'responses',
    requestIdHeader: 'x-request-id',
    parse(bytes, scope = '') {
      // What is recognised is shared by all callers, and a summary is one caller's.
      const isOneCallers = isCompact || bytes.includes(SUMMARY_PREFIX)
      const document = isOneCallers ? parseResponsesRequest(bytes) : known.recognise(bytes, parseResponsesRequest)
      if (isCompact && document.stream)
        throw new GatewayError('invalid_request', 'stream: a compaction is not streamed.')
      return toClient(document, { scope, kind: isCompact ? 'window' : triggeredKind(document) })
    },
    resume: (client, conversation, scope) =>
      toClient(continuedRequest(client.document, conversation), { scope, kind: compactingOf(client).kind }),
    render(reply, request) {
      const { status, headers, bytes, usage } = reply
      if (status !== 200) return renderProviderError(reply)
      const { kind } = compactingOf(request)
      if (kind !== undefined) return renderCompaction(reply, request, options)
      const shown = withDroppedContent(headers, bytes, CARRIED)
      const body = toResponse(bytes, request.document, options) ?? toChatError(status, bytes)
      return new BytesReply(status, shown, body, { usage, dialect: RESPONSES_REPLIES })
    },
    createTranslator: (request) => new ResponseEvents(request.document, { ...options, ...outputOf(request) }),
    forClient: (error) => toResponsesError(error, nowMs()),
    errorBody: chatErrorBody,
    ping: { text: ': ping\n\n', from: undefined, until: '[DONE]', isLast: (_, data) => data.trim() === '[DONE]' },
    breakEvent(message, passed) {
      // A stream that breaks off before its first event lacks the beginning, which the translator adds.
      if (passed.first !== undefined || passed.request === undefined) return breakEvent(message, passed)
      return new ResponseEvents(passed.request.document, options).event('error', messagesError(message))
    },
  }
}
