/** Translations of requests between the Messages shape and chat completions, with everything parsed, for tests. */
import { messageRequestSchema } from '../../src/core/request/message.ts'
import { RequestDocument } from '../../src/core/request/request.ts'
import { type ChatHabits, toChatRequest } from '../../src/dialects/chat/to-chat-request.ts'
import { toMessagesRequest } from '../../src/dialects/chat/to-messages-request.ts'
import type { JsonObject } from './json.ts'

/** A translated request and its dropped fields. */
export interface Translated {
  readonly body: JsonObject
  readonly text: string
  readonly dropped: readonly string[]
  readonly refused: readonly string[]
  readonly assumed: readonly string[]
}

/** `max_tokens` for a chat body without one. */
export const DEFAULT_MAX_TOKENS = 4096

/** OpenAI's own service. */
export const OPENAI: ChatHabits = {
  maxTokensField: 'max_completion_tokens',
  systemRole: 'developer',
  reasoningField: undefined,
  reasoningEffort: true,
  fixedSampling: /^(o\d|gpt-5)/,
  mostStopSequences: 4,
  streamUsage: true,
}

/** A server of open models. */
export const COMPATIBLE: ChatHabits = {
  maxTokensField: 'max_tokens',
  systemRole: 'system',
  reasoningField: 'reasoning_content',
  reasoningEffort: true,
  fixedSampling: undefined,
  mostStopSequences: 16,
  streamUsage: true,
}

/** Translates a chat body, an object or its text, to Messages; throws when the result is not a valid Messages request. */
export function messagesOf(chat: JsonObject | string): Translated {
  const document = new RequestDocument(Buffer.from(typeof chat === 'string' ? chat : JSON.stringify(chat)))
  const { bytes, droppedFields, assumed } = toMessagesRequest(document, { defaultMaxTokens: DEFAULT_MAX_TOKENS })
  const text = bytes.toString()
  const body = messageRequestSchema.parse(JSON.parse(text))
  return { body, text, dropped: droppedFields.dropped, refused: droppedFields.refused, assumed }
}

/** Translates a chat body around `messages` to Messages. */
export function messagesOfChat(messages: readonly JsonObject[], extra: JsonObject = {}): Translated {
  return messagesOf({ model: 'claude-sonnet-4-5', max_tokens: 100, messages, ...extra })
}

/** Translates a Messages request, an object or its text, to a chat body. */
export function chatOf(
  request: JsonObject | string,
  { model = 'm', habits = COMPATIBLE, assumed = [] as readonly string[] } = {},
): Translated {
  const document = new RequestDocument(Buffer.from(typeof request === 'string' ? request : JSON.stringify(request)))
  const { bytes, droppedFields } = toChatRequest(document, { model, habits, assumed })
  const text = bytes.toString()
  return { body: JSON.parse(text), text, dropped: droppedFields.dropped, refused: droppedFields.refused, assumed }
}

/** Translates a Messages request around `messages` to a chat body. */
export function chatOfMessages(
  messages: readonly JsonObject[],
  extra: JsonObject = {},
  habits?: ChatHabits,
): Translated {
  const request = { model: 'claude-sonnet-4-5', max_tokens: 100, messages, ...extra }
  return chatOf(request, habits === undefined ? {} : { habits })
}
