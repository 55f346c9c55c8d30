import { BytesReply } from '../../core/reply/reply.ts'
import { ClientRequest } from '../../core/request/client-request.ts'
import type { ClientDialect } from '../client-dialect.ts'
import { KnownBodies } from '../known-bodies.ts'
import { chatError, chatErrorBody } from './error-body.ts'
import { parseChatRequest } from './parse.ts'
import { CHAT_REPLIES } from './replies.ts'
import { withDroppedContent } from './reply/dropped-content.ts'
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
      const shown = status === 200 ? withDroppedContent(headers, bytes) : headers
      return new BytesReply(status, shown, body, { usage, dialect: CHAT_REPLIES })
    },
    createTranslator: ({ document }) => createChatChunks({ created: created(), includeUsage: wantsUsage(document) }),
    errorBody: chatErrorBody,
    ping: { text: ': ping\n\n', from: undefined, until: '[DONE]', isLast: (_, data) => data.trim() === '[DONE]' },
    breakEvent: (message) => `data: ${JSON.stringify({ error: chatError('api_error', message) })}\n\n`,
  }
}
