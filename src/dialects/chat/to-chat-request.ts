import { readJson } from '../../core/json/json-error.ts'
import { DroppedFields } from '../../core/request/dropped-fields.ts'
import { outlineOf } from '../../core/request/long-texts.ts'
import type { RequestDocument } from '../../core/request/request.ts'
import { refuseServerSideThread } from '../../core/request/server-side-thread.ts'
import { reportDroppedFields, toChatFields } from './request/chat-fields.ts'
import { toResponseFormat } from './request/chat-format.ts'
import { toChatMessages } from './request/chat-messages.ts'
import { toReasoningEffort } from './request/chat-reasoning.ts'
import { toChatToolFields } from './request/chat-tools.ts'

/** Differences between the providers of chat completions. */
export interface ChatHabits {
  readonly maxTokensField: 'max_completion_tokens' | 'max_tokens'
  readonly systemRole: 'system' | 'developer'
  /** The member of an assistant message for reasoning text, if the provider accepts it back. */
  readonly reasoningField: 'reasoning_content' | 'reasoning' | undefined
  /** True when `reasoning_effort` is accepted. */
  readonly reasoningEffort: boolean
  /** Models that accept an effort other than low, medium and high, by its name. */
  readonly otherEfforts?: ReadonlyMap<string, RegExp>
  /** Models that accept no temperature and top_p (the o-series and gpt-5 families of OpenAI). */
  readonly fixedSampling: RegExp | undefined
  /** Models that accept no stop sequences, and those that accept no `parallel_tool_calls`. */
  readonly withoutStop?: RegExp | undefined
  readonly withoutParallelChoice?: RegExp | undefined
  /** Models that accept `prompt_cache_options`. */
  readonly cacheOptions?: RegExp | undefined
  /** Maximum number of stop sequences. */
  readonly mostStopSequences: number
  /** True when `stream_options.include_usage` is supported. */
  readonly streamUsage: boolean
}

/** A Messages request as a chat completions request. */
export interface ChatTranslation {
  readonly bytes: Buffer
  readonly droppedFields: DroppedFields
}

/** An effort by the client's own name of it. */
export interface RequestedEffort {
  /** The client's field, reported when the effort is changed. */
  readonly field: string
  readonly word: string
}

/** Inputs of a translation into chat completions beside the request. */
export interface ChatTranslationOptions {
  /** The provider's own name of the model. */
  readonly model: string
  readonly habits: ChatHabits
  /** Fields that the client did not send: with `max_tokens` among them the provider gets no limit. */
  readonly assumed: readonly string[]
  /** The requested effort, when the client's dialect has names that the Messages shape does not. */
  readonly requestedEffort?: RequestedEffort | undefined
}

/**
 * Translates a valid Messages request. Tool inputs keep their exact text. Throws `invalid_request` for a request that
 * leaves messages to its provider.
 */
export function toChatRequest(request: RequestDocument, options: ChatTranslationOptions): ChatTranslation {
  return readJson(request.bytes, () => {
    const { document, restore } = outlineOf(request)
    const { bytes, droppedFields } = translate(document, options)
    return { bytes: restore(bytes), droppedFields }
  })
}

function translate(request: RequestDocument, options: ChatTranslationOptions): ChatTranslation {
  const { model, habits, assumed, requestedEffort } = options
  refuseServerSideThread(request)
  const droppedFields = new DroppedFields()
  const body = {
    model,
    messages: toChatMessages(request, { habits, droppedFields }),
    ...toChatToolFields(request, { model, habits, droppedFields }),
    ...toChatFields(request, { model, habits, assumed, droppedFields }),
    reasoning_effort: toReasoningEffort(request, { model, habits, requestedEffort, droppedFields }),
    response_format: toResponseFormat(request, droppedFields),
  }
  reportDroppedFields(request, options, droppedFields)
  return { bytes: Buffer.from(JSON.stringify(body)), droppedFields }
}
