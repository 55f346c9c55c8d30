import { isObject, type JsonObject } from '../../../core/json/json-value.ts'
import type { DroppedFields } from '../../../core/request/dropped-fields.ts'
import { NO_LIMIT } from '../request-schema.ts'
import { ChatFault, countAt, flagAt, listAt, objectAt, textAt } from './chat-fault.ts'
import { dropLeftovers, isNothing, reportedName } from './json-value.ts'

/** Returns the client's token limit, under its new name or its old one. */
export function toMaxTokens(body: JsonObject): number | undefined {
  return limitAt(body, 'max_completion_tokens') ?? limitAt(body, 'max_tokens')
}

function limitAt(body: JsonObject, name: string): number | undefined {
  return body[name] === NO_LIMIT ? undefined : countAt(body[name], name)
}

/** Returns the single fields of a Messages request that have another name or form in chat completions. */
export function toSingleFields(body: JsonObject, droppedFields: DroppedFields): JsonObject {
  return {
    stop_sequences: toStopSequences(body.stop),
    stream: flagAt(body.stream, 'stream'),
    metadata: toMetadata(body, droppedFields),
    service_tier: toServiceTier(body.service_tier, droppedFields),
  }
}

function toStopSequences(stop: unknown): readonly string[] | undefined {
  if (isNothing(stop)) return undefined
  if (typeof stop === 'string') return [stop]
  return listAt(stop, 'stop').map((sequence, index) => textAt(sequence, `stop[${index}]`))
}

/** Returns the metadata: `user` is the old name of `safety_identifier`, and Messages has one member for both. */
export function toMetadata(body: JsonObject, droppedFields: DroppedFields): JsonObject | undefined {
  const names = ['user', 'safety_identifier'] as const
  const [id, other] = names.map((name) => (isNothing(body[name]) ? '' : textAt(body[name], name)))
  if (id && other && id !== other) droppedFields.drop('safety_identifier')
  return id || other ? { user_id: id || other } : undefined
}

/** Returns the service tier: `default` is the standard one alone; other tiers are dropped, and reported. */
export function toServiceTier(tier: unknown, droppedFields: DroppedFields): string | undefined {
  if (tier === 'default') return 'standard_only'
  if (!isNothing(tier) && tier !== 'auto') droppedFields.drop('service_tier')
  return undefined
}

/** Returns `output_config.format` for a `response_format`. JSON without a schema is an extension that only some providers support. */
export function toOutputFormat(value: unknown, droppedFields: DroppedFields): JsonObject | undefined {
  if (isNothing(value)) return undefined
  const format = objectAt(value, 'response_format')
  if (format.type === 'json_object') return { type: 'json_object' }
  if (format.type === 'json_schema') return toSchemaFormat(format.json_schema, droppedFields)
  if (typeof format.type !== 'string') throw new ChatFault('response_format.type', 'string')
  if (format.type !== 'text')
    droppedFields.refuse('response_format', `${format.type} is not among text, json_schema, json_object`)
  return undefined
}

const SCHEMA_MEMBERS = { known: new Set(['name', 'schema', 'strict']), place: 'response_format.json_schema' }

function toSchemaFormat(value: unknown, droppedFields: DroppedFields): JsonObject {
  const described = objectAt(value, 'response_format.json_schema')
  dropLeftovers(described, SCHEMA_MEMBERS, droppedFields)
  // Messages always constrains the answer to the schema.
  if (described.strict === false) droppedFields.drop('response_format.json_schema.strict')
  if (isNothing(described.schema)) return { type: 'json_object' }
  return { type: 'json_schema', schema: objectAt(described.schema, 'response_format.json_schema.schema') }
}

/** Reasons why a field that changes the answer is refused; `undefined` when its value has no effect. */
const REFUSALS: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  n: (n) => (n === 1 ? undefined : 'only one answer can be requested'),
  logprobs: (isWanted) => (isWanted === false ? undefined : 'log probabilities are not available'),
  top_logprobs: (count) => (count === 0 ? undefined : 'log probabilities are not available'),
  logit_bias: (bias) =>
    isObject(bias) && Object.keys(bias).length === 0 ? undefined : 'token biases are not available',
  modalities: (list) =>
    Array.isArray(list) && list.every((modality) => modality === 'text') ? undefined : 'only text can be answered',
  audio: () => 'only text can be answered',
  web_search_options: () => 'the Messages shape has no equivalent; use a tool for web search',
}

/** Fields that are read elsewhere, or without effect on the answer: `stream_options` concerns its form. */
const READ = new Set([
  ...['model', 'messages', 'tools', 'functions', 'tool_choice', 'function_call', 'parallel_tool_calls'],
  ...['max_tokens', 'max_completion_tokens', 'temperature', 'top_p', 'top_k', 'stop', 'stream', 'stream_options'],
  ...['user', 'safety_identifier', 'service_tier', 'response_format', 'thinking', 'reasoning', 'reasoning_effort'],
])
const NEUTRAL_AT_ZERO = new Set(['presence_penalty', 'frequency_penalty'])

/** Reports every field without an equivalent: refused where the answer depends on it, otherwise dropped. */
export function addDroppedFields(body: JsonObject, droppedFields: DroppedFields): void {
  for (const [name, value] of Object.entries(body)) {
    if (READ.has(name) || isNothing(value)) continue
    if (Object.hasOwn(REFUSALS, name)) {
      const why = REFUSALS[name]?.(value)
      if (why !== undefined) droppedFields.refuse(name, why)
    } else if (value !== 0 || !NEUTRAL_AT_ZERO.has(name)) droppedFields.drop(reportedName(name))
  }
}
