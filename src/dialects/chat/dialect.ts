import type { GatewayError } from '../../core/errors.ts'
import { BytesReply, type ReplyHeaders } from '../../core/reply/reply.ts'
import { ClientRequest } from '../../core/request/client-request.ts'
import type { ClientDialect } from '../client-dialect.ts'
import { KnownBodies } from '../known-bodies.ts'
import { parseChatRequest } from './parse.ts'
import { CHAT_REPLIES } from './replies.ts'
import { droppedContent } from './reply/dropped-content.ts'
import { toChatError } from './reply/errors.ts'
import { createChatChunks } from './reply/to-chat-chunks.ts'
import { toChatReply } from './reply/to-chat-reply.ts'
import { toMessagesRequest } from './to-messages-request.ts'
import { wantsUsage } from './wants-usage.ts'

/** Options of the dialect. */
export interface ChatDialectOptions {
  /** Limit of output tokens for requests without one, where the provider requires one. */
  readonly defaultMaxTokens: number
  /** Returns the provider's own name of a model that a client may know by another. */
  readonly modelNamed: (name: string) => string
  /** Wall-clock time in milliseconds since 1970. */
  readonly nowMs: () => number
}

/** OpenAI's chat completions. */
export function createChatDialect({ defaultMaxTokens, modelNamed, nowMs }: ChatDialectOptions): ClientDialect {
  const known = new KnownBodies()
  const created = () => Math.floor(nowMs() / 1000)
  return {
    name: 'chat',
    requestIdHeader: 'x-request-id',
    parse: (bytes) =>
      new ClientRequest(known.recognise(bytes, parseChatRequest), CHAT_REPLIES, (document) =>
        toMessagesRequest(document, { defaultMaxTokens, modelNamed }),
      ),
    render({ status, headers, bytes, usage }) {
      const body =
        (status === 200 ? toChatReply(bytes, { created: created() }) : undefined) ?? toChatError(status, bytes)
      return new BytesReply(status, withDropped(headers, status, bytes), body, { usage, dialect: CHAT_REPLIES })
    },
    createTranslator: ({ document }) => createChatChunks({ created: created(), includeUsage: wantsUsage(document) }),
    errorBody,
    ping: { text: ': ping\n\n', from: undefined, until: '[DONE]', isLast: (_, data) => data.trim() === '[DONE]' },
    breakEvent: (message) => `data: ${JSON.stringify({ error: chatError('api_error', message) })}\n\n`,
  }
}

/** Matches block types that may lose something; a usual reply has none and is not parsed again. */
const MAY_LOSE = /"type"\s*:\s*"(?!text"|thinking"|tool_use"|message")|"citations"/

/** Adds the content that a completion cannot represent to `x-svc-dropped`. */
function withDropped(headers: ReplyHeaders, status: number, message: Buffer): ReplyHeaders {
  const dropped = status === 200 && MAY_LOSE.test(message.toString('latin1')) ? droppedContent(message) : []
  if (dropped.length === 0) return headers
  return { ...headers, 'x-svc-dropped': [headers['x-svc-dropped'] ?? [], dropped].flat().join(', ') }
}

/** Builds an error body for both families of clients: the members of `error` are OpenAI's, the outer `type` is Anthropic's. */
function errorBody(error: GatewayError, requestId: string): object {
  const { error: body } = error.toBody()
  const shown = {
    ...chatError(String(body.type), error.message, error.code),
    ...body,
    param: body.param ?? paramOf(error),
  }
  return { type: 'error', error: shown, request_id: requestId }
}

function chatError(type: string, message: string, code: string | null = null) {
  return { type, message, code, param: null as string | null }
}

const FIELD_AT_START = /^([a-z_]+(?:\[\d+\]|\.[a-z_]+)*): /

/** Returns the field at the beginning of a refused request's message. */
function paramOf({ code, message }: GatewayError): string | null {
  return code === 'invalid_request' ? (FIELD_AT_START.exec(message)?.[1] ?? null) : null
}
