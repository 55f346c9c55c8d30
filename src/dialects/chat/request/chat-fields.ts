import { isObject, type JsonObject } from '../../../core/json/json-value.ts'
import type { DroppedFields } from '../../../core/request/dropped-fields.ts'
import type { RequestDocument } from '../../../core/request/request.ts'
import type { ChatHabits } from '../to-chat-request.ts'
import { isNothing, reportedName } from './json-value.ts'

/** Inputs of the single fields of a chat request. */
export interface ChatFieldsOptions {
  readonly model: string
  readonly habits: ChatHabits
  /** Fields that the client did not send. */
  readonly assumed: readonly string[]
  readonly droppedFields: DroppedFields
}

/** Returns the fields of a chat request other than messages, tools and reasoning. */
export function toChatFields(request: RequestDocument, options: ChatFieldsOptions): JsonObject {
  const { habits, assumed, droppedFields } = options
  const isStream = request.field('stream') === true
  return {
    ...(!assumed.includes('max_tokens') && { [habits.maxTokensField]: request.maxTokens }),
    temperature: samplingOf(request, 'temperature', options),
    top_p: samplingOf(request, 'top_p', options),
    stop: toStop(request.field('stop_sequences'), options),
    user: toUser(request.field('metadata'), droppedFields),
    prompt_cache_options: takesCacheOptions(options) ? request.field(CACHE_OPTIONS) : undefined,
    ...(isStream && { stream: true, ...(habits.streamUsage && { stream_options: { include_usage: true } }) }),
  }
}

/** Field of OpenAI's APIs that the canonical request may have, set by a plugin or by its client. */
const CACHE_OPTIONS = 'prompt_cache_options'

function takesCacheOptions({ model, habits }: Pick<ChatFieldsOptions, 'model' | 'habits'>): boolean {
  return habits.cacheOptions?.test(model) === true
}

/** Returns a sampling value; models with fixed sampling accept only its default, 1. */
function samplingOf(request: RequestDocument, name: 'temperature' | 'top_p', options: ChatFieldsOptions): unknown {
  const value = request.field(name) ?? undefined
  if (value === undefined || !options.habits.fixedSampling?.test(options.model)) return value
  if (value !== 1) options.droppedFields.drop(name)
  return undefined
}

function toStop(sequences: unknown, { model, habits, droppedFields }: ChatFieldsOptions): unknown {
  if (!Array.isArray(sequences) || sequences.length === 0) return undefined
  if (habits.withoutStop?.test(model)) droppedFields.refuse('stop_sequences', `${model} takes none`)
  else if (sequences.length > habits.mostStopSequences)
    droppedFields.refuse('stop_sequences', `this provider takes at most ${habits.mostStopSequences} of them`)
  return sequences
}

function toUser(metadata: unknown, droppedFields: DroppedFields): unknown {
  if (!isObject(metadata)) return undefined
  if (Object.keys(metadata).some((name) => name !== 'user_id')) droppedFields.drop('metadata')
  return isNothing(metadata.user_id) ? undefined : metadata.user_id
}

/** Fields that are read elsewhere. */
const READ = new Set([
  ...['model', 'max_tokens', 'messages', 'system', 'tools', 'tool_choice', 'stream', 'temperature', 'top_p'],
  ...['stop_sequences', 'metadata', 'thinking', 'output_config', 'output_format'],
])
const REFUSED = new Set(['container', 'mcp_servers'])
/** Fields that are read as objects and were not checked before. */
const OBJECTS = ['tool_choice', 'thinking', 'output_config']

/** Reports every field without an equivalent: refused where the answer depends on it, otherwise dropped. */
export function reportDroppedFields(
  request: RequestDocument,
  options: Pick<ChatFieldsOptions, 'model' | 'habits'>,
  droppedFields: DroppedFields,
): void {
  for (const name of request.shape.fields.keys()) {
    if (READ.has(name) || isNothing(request.field(name))) continue
    if (name === CACHE_OPTIONS && takesCacheOptions(options)) continue
    if (REFUSED.has(name)) droppedFields.refuse(name, 'this provider has no equivalent')
    else droppedFields.drop(reportedName(name))
  }
  for (const name of OBJECTS) {
    const value = request.field(name)
    if (!isNothing(value) && !isObject(value)) droppedFields.refuse(name, 'expected an object')
  }
}
