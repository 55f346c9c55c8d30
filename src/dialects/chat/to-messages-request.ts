import { readJson } from '../../core/json/json-error.ts'
import { JsonPrinter } from '../../core/json/json-printer.ts'
import type { JsonObject } from '../../core/json/json-value.ts'
import { parseJson } from '../../core/json/parse-json.ts'
import { DroppedFields } from '../../core/request/dropped-fields.ts'
import { outlineOf } from '../../core/request/long-texts.ts'
import type { RequestDocument } from '../../core/request/request.ts'
import { ChatFault, objectAt, textAt } from './request/chat-fault.ts'
import { toConversation } from './request/conversation-of-chat.ts'
import { addDroppedFields, toMaxTokens, toOutputFormat, toSingleFields } from './request/fields-of-chat.ts'
import { isBlank } from './request/json-value.ts'
import { toSampling } from './request/sampling-of-chat.ts'
import { type ThinkingFields, toThinkingFields } from './request/thinking-of-effort.ts'
import { isForced, toToolFields } from './request/tools-of-chat.ts'
import { explainChatFault } from './request-schema.ts'

/** A chat completions request in the Messages shape. */
export interface MessagesTranslation {
  /** A complete, valid Messages request body, unless something was refused. */
  readonly bytes: Buffer
  readonly droppedFields: DroppedFields
  /** Fields that the client did not send and the Messages shape requires: only ever `max_tokens`. */
  readonly assumed: readonly string[]
  /** Values of the small fields of the body, `undefined` for absent ones. */
  readonly small: Readonly<Record<string, unknown>>
}

/** The operator's settings for translations. */
export interface MessagesTranslationOptions {
  /** `max_tokens` of requests without a limit, in tokens. Raised where thinking needs more. */
  readonly defaultMaxTokens: number
  /** Returns the provider's own name of a model, which determines its generation. Default: the client's name. */
  readonly modelNamed?: (name: string) => string
}

/**
 * Translates a chat completions request. The arguments of tool calls keep their exact text. Throws `invalid_request`
 * that names the field when the body is not a valid chat completions request.
 */
export function toMessagesRequest(chat: RequestDocument, options: MessagesTranslationOptions): MessagesTranslation {
  const { document, restore } = readJson(chat.bytes, () => outlineOf(chat))
  const body = readJson(chat.bytes, () => parseJson(document.bytes.toString()))
  try {
    const translation = translate(objectAt(body, 'the body'), options)
    return { ...translation, bytes: restore(translation.bytes) }
  } catch (error) {
    if (error instanceof ChatFault) throw explainChatFault(body, error)
    throw error
  }
}

function translate(
  body: JsonObject,
  { defaultMaxTokens, modelNamed }: MessagesTranslationOptions,
): MessagesTranslation {
  const droppedFields = new DroppedFields()
  const printer = new JsonPrinter()
  const model = textAt(body.model, 'model')
  if (isBlank(model)) throw new ChatFault('model', 'the name of a model')
  const { system, messages } = toConversation(body.messages, { droppedFields, printer, tally: { values: 0 } })
  const toolFields = toToolFields(body, droppedFields)
  // A model's generation follows from the provider's name of it.
  const named = { ...body, model: modelNamed?.(model) ?? model }
  const given = toMaxTokens(body)
  const circumstances = {
    model: named.model,
    maxTokens: given ?? defaultMaxTokens,
    isAssumed: given === undefined,
    forcesTool: isForced(toolFields.tool_choice),
    isMidTurn: isMidTurn(messages.at(-1)),
  }
  const reasoned = toThinkingFields(body, circumstances, droppedFields)
  const small = {
    model: named.model,
    max_tokens: reasoned.maxTokens,
    stream: undefined,
    ...toSampling(named, reasoned.thinking, droppedFields),
    ...toSingleFields(body, droppedFields),
    thinking: reasoned.thinking,
    output_config: toOutputConfig(reasoned, toOutputFormat(body.response_format, droppedFields)),
  }
  addDroppedFields(body, droppedFields)
  const bytes = Buffer.from(printer.print({ ...small, system, ...toolFields, messages }))
  return { bytes, droppedFields, assumed: circumstances.isAssumed ? ['max_tokens'] : [], small }
}

/** Returns true after tool results and after a prefill: the model continues a turn without thinking. */
function isMidTurn(last: JsonObject | undefined): boolean {
  if (last?.role === 'assistant') return true
  return Array.isArray(last?.content) && last.content.some((block: JsonObject) => block.type === 'tool_result')
}

function toOutputConfig({ effort }: ThinkingFields, format: JsonObject | undefined): JsonObject | undefined {
  return effort === undefined && format === undefined ? undefined : { effort, format }
}
