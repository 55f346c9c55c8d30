import { readJson } from '../../core/json/json-error.ts'
import { JsonPrinter } from '../../core/json/json-printer.ts'
import type { JsonObject } from '../../core/json/json-value.ts'
import { parseJson } from '../../core/json/parse-json.ts'
import type { Translation } from '../../core/request/client-request.ts'
import { DroppedFields } from '../../core/request/dropped-fields.ts'
import { outlineOf } from '../../core/request/long-texts.ts'
import type { RequestDocument } from '../../core/request/request.ts'
import { isPlainText } from '../chat/request/blocks-of-parts.ts'
import { ChatFault, countAt, flagAt, objectAt, textAt } from '../chat/request/chat-fault.ts'
import { isBlank } from '../chat/request/json-value.ts'
import { toSampling } from '../chat/request/sampling-of-chat.ts'
import { toThinkingFields } from '../chat/request/thinking-of-effort.ts'
import { isForced } from '../chat/request/tools-of-chat.ts'
import type { MessagesTranslationOptions } from '../chat/to-messages-request.ts'
import { toSummaryRequest } from './compact/compaction-request.ts'
import { toConversation } from './request/conversation-of-items.ts'
import {
  addDroppedFields,
  toInstructions,
  toOutputFormat,
  toReasoning,
  toSingleFields,
} from './request/fields-of-responses.ts'
import { toToolFields } from './request/tools-of-responses.ts'
import { explainResponsesFault } from './request-schema.ts'
import type { Compacting } from './responses-request.ts'
import { FlatNames } from './tool-names.ts'

/** Options of the translation. */
export interface ResponsesTranslationOptions extends MessagesTranslationOptions {
  /** True if the gateway stores responses. Default: false. */
  readonly keepsResponses?: boolean
  /** The request's part in the compaction of its conversation. Default: none. */
  readonly compacting?: Compacting
}

/**
 * Translates a Responses request into the Messages shape. The arguments of function calls keep their exact text. Throws
 * `invalid_request` that names the field when the body is not a valid Responses request.
 */
export function toMessagesRequest(responses: RequestDocument, options: ResponsesTranslationOptions): Translation {
  const { document, restore } = readJson(responses.bytes, () => outlineOf(responses))
  const body = readJson(responses.bytes, () => parseJson(document.bytes.toString()))
  try {
    const asked = objectAt(body, 'the body')
    const { compacting } = options
    const translation = translate(compacting?.kind === undefined ? asked : toSummaryRequest(asked), options)
    return { ...translation, bytes: restore(translation.bytes) }
  } catch (error) {
    if (error instanceof ChatFault) throw explainResponsesFault(body, error)
    throw error
  }
}

function translate(
  body: JsonObject,
  { defaultMaxTokens, modelNamed, keepsResponses, compacting }: ResponsesTranslationOptions,
): Translation {
  const droppedFields = new DroppedFields()
  const printer = new JsonPrinter()
  const names = new FlatNames(body)
  const model = textAt(body.model, 'model')
  if (isBlank(model)) throw new ChatFault('model', 'the name of a model')
  const opened = compacting?.opened
  const conversation = toConversation(body.input, { droppedFields, names, printer, tally: { values: 0 }, opened })
  const { messages } = conversation
  const lists = [{ tools: body.tools, path: 'tools' }, ...conversation.additionalTools]
  // A model's generation follows from the provider's name of it.
  const named = { ...body, top_k: undefined, model: modelNamed?.(model) ?? model }
  const toolFields = toToolFields(lists, body, { model: named.model, names, droppedFields })
  const given = countAt(body.max_output_tokens, 'max_output_tokens')
  const circumstances = {
    model: named.model,
    maxTokens: given ?? defaultMaxTokens,
    isAssumed: given === undefined,
    forcesTool: isForced(toolFields.tool_choice),
    isMidTurn: isMidTurn(messages),
  }
  const { thinking, effort, maxTokens } = toThinkingFields(
    toReasoning(body.reasoning, droppedFields),
    circumstances,
    droppedFields,
  )
  const format = toOutputFormat(body.text, droppedFields)
  const small = {
    model: named.model,
    max_tokens: maxTokens,
    stream: flagAt(body.stream, 'stream'),
    ...toSampling(named, thinking, droppedFields),
    ...toSingleFields(body, droppedFields),
    thinking,
    output_config: effort === undefined && format === undefined ? undefined : { effort, format },
  }
  addDroppedFields(keepsResponses === true ? { ...body, store: false } : body, droppedFields)
  const system = systemOf([...toInstructions(body.instructions), ...conversation.system])
  const bytes = Buffer.from(printer.print({ ...small, system, ...toolFields, messages }))
  return { bytes, droppedFields, assumed: circumstances.isAssumed ? ['max_tokens'] : [], small }
}

function systemOf(blocks: readonly JsonObject[]): string | readonly JsonObject[] | undefined {
  const [first, second] = blocks
  if (first === undefined) return undefined
  return second === undefined && isPlainText(first) ? first.text : blocks
}

const THOUGHTS = new Set<unknown>(['thinking', 'redacted_thinking'])

/** Returns true when the model continues a turn that it began without thinking: after tool results, or a prefill. */
function isMidTurn(messages: readonly JsonObject[]): boolean {
  const last = messages.at(-1)
  if (last?.role === 'assistant') return true
  const hasResults = contentOf(last).some(({ type }) => type === 'tool_result')
  const answered = messages.findLast(({ role }) => role === 'assistant')
  return hasResults && !THOUGHTS.has(contentOf(answered)[0]?.type)
}

function contentOf(message: JsonObject | undefined): readonly JsonObject[] {
  // Safe: the messages are of this translation, whose content is text or a list of blocks.
  return Array.isArray(message?.content) ? (message.content as JsonObject[]) : []
}
