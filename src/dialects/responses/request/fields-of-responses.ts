import { isObject, type JsonObject } from '../../../core/json/json-value.ts'
import type { DroppedFields } from '../../../core/request/dropped-fields.ts'
import { ChatFault, listAt, objectAt, textAt } from '../../chat/request/chat-fault.ts'
import { toMetadata, toServiceTier } from '../../chat/request/fields-of-chat.ts'
import { dropLeftovers, isNothing, type Leftovers, reportedName } from '../../chat/request/json-value.ts'

/** Returns the single fields of a Messages request that have another name or form here. */
export function toSingleFields(body: JsonObject, droppedFields: DroppedFields): JsonObject {
  return {
    metadata: toMetadata(body, droppedFields),
    service_tier: toServiceTier(body.service_tier, droppedFields),
  }
}

/** OpenAI's highest effort, which has no name elsewhere. */
const HIGHEST = 'ultra'
const REASONING: Leftovers = {
  // A summary of the thinking is what the Messages API shows, whatever length is requested.
  known: new Set(['effort', 'summary', 'generate_summary']),
  place: 'reasoning',
}

/** Returns the requested effort, in the form that chat clients may send it. */
export function toReasoning(value: unknown, droppedFields: DroppedFields): JsonObject {
  if (isNothing(value)) return {}
  const reasoning = objectAt(value, 'reasoning')
  dropLeftovers(reasoning, REASONING, droppedFields)
  return isNothing(reasoning.effort)
    ? {}
    : { reasoning: { effort: reasoning.effort === HIGHEST ? 'max' : reasoning.effort } }
}

const TEXT: Leftovers = { known: new Set(['format']), place: 'text' }
const FORMAT: Leftovers = { known: new Set(['type', 'name', 'schema', 'strict', 'description']), place: 'text.format' }

/** Returns `output_config.format` for `text.format`. JSON without a schema is an extension that only some providers support. */
export function toOutputFormat(value: unknown, droppedFields: DroppedFields): JsonObject | undefined {
  if (isNothing(value)) return undefined
  const text = objectAt(value, 'text')
  dropLeftovers(text, TEXT, droppedFields)
  if (isNothing(text.format)) return undefined
  const format = objectAt(text.format, 'text.format')
  dropLeftovers(format, FORMAT, droppedFields)
  if (format.type === 'text') return undefined
  if (format.type === 'json_object') return { type: 'json_object' }
  if (format.type !== 'json_schema') throw new ChatFault('text.format.type', 'text, json_schema or json_object')
  // Messages always constrains the answer to the schema.
  if (format.strict === false) droppedFields.drop('text.format.strict')
  return { type: 'json_schema', schema: objectAt(format.schema, 'text.format.schema') }
}

const STATEFUL = 'this provider stores no responses; send the whole conversation as `input`'

/** Reasons why a field that changes the answer is refused; `undefined` when its value has no effect. */
const REFUSALS: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  previous_response_id: () => STATEFUL,
  conversation: () => STATEFUL,
  prompt: () => 'templates are stored by OpenAI alone; send their text',
  background: (isWanted) =>
    isWanted === false ? undefined : 'responses are not stored, so they cannot run in the background',
  top_logprobs: (count) => (count === 0 ? undefined : 'log probabilities are not available'),
  context_management: () => 'this provider does not compact conversations',
}

/** Fields that are read elsewhere, or without effect on the answer: `stream_options` concerns its form. */
const READ = new Set([
  ...['model', 'input', 'instructions', 'tools', 'tool_choice', 'parallel_tool_calls', 'max_output_tokens'],
  ...['temperature', 'top_p', 'stream', 'stream_options', 'user', 'safety_identifier', 'service_tier', 'reasoning'],
  // Limits the provider's own tools, of which only the search of the web is translated.
  'max_tool_calls',
  // Returned in the response, which is all that they are for.
  ...['text', 'metadata'],
])
/** Values that are the default here. */
const NEUTRAL: Readonly<Record<string, unknown>> = {
  store: false,
  truncation: 'disabled',
  presence_penalty: 0,
  frequency_penalty: 0,
}
/** Members of `include` that every response has, or whose items it never has. */
const INCLUDED = /^reasoning\.encrypted_content$|_call\./

/** Reports every field without an equivalent: refused where the answer depends on it, otherwise dropped. */
export function addDroppedFields(body: JsonObject, droppedFields: DroppedFields): void {
  for (const [name, value] of Object.entries(body)) {
    if (READ.has(name) || isNothing(value) || NEUTRAL[name] === value) continue
    const why = Object.hasOwn(REFUSALS, name) ? REFUSALS[name]?.(value) : undefined
    if (why !== undefined) droppedFields.refuse(name, why)
    else if (name === 'include') dropIncluded(value, droppedFields)
    else if (!Object.hasOwn(REFUSALS, name)) droppedFields.drop(reportedName(name))
  }
}

function dropIncluded(include: unknown, droppedFields: DroppedFields): void {
  const names = listAt(include, 'include').map((name, index) => textAt(name, `include[${index}]`))
  for (const name of names) if (!INCLUDED.test(name)) droppedFields.drop(`include.${reportedName(name)}`)
}

/** Returns the text blocks of `instructions`. Throws `ChatFault`. */
export function toInstructions(value: unknown): readonly JsonObject[] {
  if (isNothing(value)) return []
  if (isObject(value) || Array.isArray(value)) throw new ChatFault('instructions', 'a string')
  return [{ type: 'text', text: textAt(value, 'instructions') }]
}
