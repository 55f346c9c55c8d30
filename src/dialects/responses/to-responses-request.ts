import { readJson } from '../../core/json/json-error.ts'
import type { JsonObject } from '../../core/json/json-value.ts'
import { DroppedFields } from '../../core/request/dropped-fields.ts'
import { outlineOf } from '../../core/request/long-texts.ts'
import type { RequestDocument } from '../../core/request/request.ts'
import { refuseServerSideThread } from '../../core/request/server-side-thread.ts'
import { reportDroppedFields, toChatFields } from '../chat/request/chat-fields.ts'
import { toResponseFormat } from '../chat/request/chat-format.ts'
import { textOfSystem } from '../chat/request/chat-messages.ts'
import { toReasoningEffort } from '../chat/request/chat-reasoning.ts'
import { toChatToolFields } from '../chat/request/chat-tools.ts'
import type { ChatTranslation, ChatTranslationOptions } from '../chat/to-chat-request.ts'
import { toItems } from './request/items-of-messages.ts'

/** The fewest output tokens that the API takes as a limit. */
const LEAST_OUTPUT_TOKENS = 16
const ENCRYPTED = 'reasoning.encrypted_content'

/**
 * Translates a valid Messages request into a Responses request that stores nothing. Tool inputs keep their exact text. Throws
 * `invalid_request` for a request that leaves messages to its provider.
 */
export function toResponsesRequest(request: RequestDocument, options: ChatTranslationOptions): ChatTranslation {
  return readJson(request.bytes, () => {
    const { document, restore } = outlineOf(request)
    const { bytes, droppedFields } = translate(document, options)
    return { bytes: restore(bytes), droppedFields }
  })
}

function translate(request: RequestDocument, options: ChatTranslationOptions): ChatTranslation {
  const { model, habits, requestedEffort } = options
  refuseServerSideThread(request)
  const droppedFields = new DroppedFields()
  const fields = toChatFields(request, { ...options, droppedFields })
  if (fields.stop !== undefined) droppedFields.refuse('stop_sequences', 'this API has none')
  const effort = toReasoningEffort(request, { model, habits, requestedEffort, droppedFields })
  const limit = fields[habits.maxTokensField]
  const body = {
    model,
    instructions: textOfSystem(request.field('system'), droppedFields),
    input: toItems(request, droppedFields),
    ...toTools(toChatToolFields(request, { model, habits, droppedFields })),
    max_output_tokens: typeof limit === 'number' ? Math.max(limit, LEAST_OUTPUT_TOKENS) : undefined,
    temperature: fields.temperature,
    top_p: fields.top_p,
    safety_identifier: fields.user,
    prompt_cache_options: fields.prompt_cache_options,
    stream: fields.stream,
    reasoning: effort === undefined ? undefined : { effort },
    // Models that do not reason refuse it.
    include: effort !== undefined || habits.fixedSampling?.test(model) ? [ENCRYPTED] : undefined,
    text: toText(toResponseFormat(request, droppedFields)),
    store: false,
  }
  reportDroppedFields(request, options, droppedFields)
  return { bytes: Buffer.from(JSON.stringify(body)), droppedFields }
}

/** Flattens the tools and the choice of a chat request. */
function toTools({ tools, tool_choice: choice, ...rest }: ReturnType<typeof toChatToolFields>): JsonObject {
  return {
    ...(tools && { tools: tools.map((tool) => ({ type: 'function', strict: false, ...objectIn(tool, 'function') })) }),
    ...(choice !== undefined && {
      tool_choice: typeof choice === 'string' ? choice : { type: 'function', ...objectIn(choice, 'function') },
    }),
    ...rest,
  }
}

/** Flattens the format of a chat request. */
function toText(format: JsonObject | undefined): JsonObject | undefined {
  if (format === undefined) return undefined
  return {
    format: format.type === 'json_schema' ? { type: 'json_schema', ...objectIn(format, 'json_schema') } : format,
  }
}

function objectIn(object: JsonObject, name: string): JsonObject {
  // Safe: the translation into chat completions has made it.
  return object[name] as JsonObject
}
