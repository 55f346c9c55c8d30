import { readJson } from '../../core/json/json-error.ts'
import { DroppedFields } from '../../core/request/dropped-fields.ts'
import { outlineOf } from '../../core/request/long-texts.ts'
import type { RequestDocument } from '../../core/request/request.ts'
import { refuseServerSideThread } from '../../core/request/server-side-thread.ts'
import { tellChatLosses, toChatFields } from './request/chat-fields.ts'
import { toResponseFormat } from './request/chat-format.ts'
import { toChatMessages } from './request/chat-messages.ts'
import { toReasoningEffort } from './request/chat-reasoning.ts'
import { toChatToolFields } from './request/chat-tools.ts'

/** In what the providers that speak chat completions differ. */
export interface ChatHabits {
  readonly maxTokensField: 'max_completion_tokens' | 'max_tokens'
  readonly systemRole: 'system' | 'developer'
  /** The member of an assistant message that carries reasoning text, if the provider takes it back. */
  readonly reasoningField: 'reasoning_content' | 'reasoning' | undefined
  /** Whether `reasoning_effort` is taken. */
  readonly reasoningEffort: boolean
  /** Models that take no temperature and top_p (the o-series and gpt-5 families of OpenAI). */
  readonly fixedSampling: RegExp | undefined
  /** Models that take no stop sequences, and those that take no `parallel_tool_calls`. */
  readonly withoutStop?: RegExp | undefined
  readonly withoutParallelChoice?: RegExp | undefined
  /** How many stop sequences are taken at most. */
  readonly mostStopSequences: number
  /** Whether `stream_options.include_usage` is understood. */
  readonly streamUsage: boolean
}

/** A Messages request as a chat completions request. */
export interface ChatTranslation {
  readonly bytes: Buffer
  readonly droppedFields: DroppedFields
}

/** What a translation into chat completions depends on besides the request. */
export interface ChatTranslationOptions {
  /** The provider's own name of the model. */
  readonly model: string
  readonly habits: ChatHabits
  /** Fields that the client did not give: with `max_tokens` among them the provider is sent no limit. */
  readonly assumed: readonly string[]
}

/**
 * Translates a valid Messages request. The inputs of tool calls keep their exact text. Throws `invalid_request` for one
 * that leaves messages to its provider.
 */
export function toChatRequest(request: RequestDocument, options: ChatTranslationOptions): ChatTranslation {
  return readJson(request.bytes, () => {
    const { document, restore } = outlineOf(request)
    const { bytes, droppedFields } = translate(document, options)
    return { bytes: restore(bytes), droppedFields }
  })
}

function translate(request: RequestDocument, { model, habits, assumed }: ChatTranslationOptions): ChatTranslation {
  refuseServerSideThread(request)
  const droppedFields = new DroppedFields()
  const body = {
    model,
    messages: toChatMessages(request, { habits, droppedFields }),
    ...toChatToolFields(request, { model, habits, droppedFields }),
    ...toChatFields(request, { model, habits, assumed, droppedFields }),
    reasoning_effort: toReasoningEffort(request, { model, habits, droppedFields }),
    response_format: toResponseFormat(request, droppedFields),
  }
  tellChatLosses(request, droppedFields)
  return { bytes: Buffer.from(JSON.stringify(body)), droppedFields }
}
