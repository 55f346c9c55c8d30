/**
 * DESIGN: the shape of a Responses request, for the error messages of invalid ones and for the OpenAPI document.
 *
 * Source: OpenAI's API reference, "Create a model response", and the Open Responses specification. Fields, items and tools
 * that are not named here pass; null means an absent optional field. The translation checks every field that it reads and
 * uses the schema only after a check has failed.
 */
import { z } from 'zod'
import { GatewayError } from '../../core/errors.ts'
import { listOf } from '../../core/request/list-schema.ts'
import { explain, modelName } from '../../core/request/message.ts'

const anyObject = z.looseObject({})
const ROLES = ['user', 'assistant', 'system', 'developer'] as const
/** Types of items and parts whose members are checked. */
const KNOWN_TYPES = [
  ...['message', 'function_call', 'function_call_output', 'custom_tool_call', 'custom_tool_call_output', 'reasoning'],
  ...['input_text', 'output_text', 'refusal', 'input_image', 'input_file'],
]
/** Without `abort`, zod would report this branch of a union alone. */
const otherType = z.looseObject({
  type: z.string().refine((type) => !KNOWN_TYPES.includes(type), { abort: true }),
})

const part = z.union([
  z.looseObject({ type: z.enum(['input_text', 'output_text']), text: z.string() }),
  z.looseObject({ type: z.literal('refusal'), refusal: z.string() }),
  z.looseObject({ type: z.literal('input_image'), image_url: z.string().nullish(), file_id: z.string().nullish() }),
  z.looseObject({ type: z.literal('input_file'), file_data: z.string().nullish(), file_url: z.string().nullish() }),
  otherType,
])
const content = z.union([z.string(), listOf(() => part)])
const callId = z.string().min(1)

const item = z.union([
  z.looseObject({ type: z.literal('message').nullish(), role: z.enum(ROLES), content }),
  z.looseObject({ type: z.literal('function_call'), call_id: callId, name: z.string(), arguments: z.string() }),
  z.looseObject({ type: z.literal('function_call_output'), call_id: callId, output: content }),
  z.looseObject({ type: z.literal('custom_tool_call'), call_id: callId, name: z.string(), input: z.string() }),
  z.looseObject({ type: z.literal('custom_tool_call_output'), call_id: callId, output: content }),
  z.looseObject({
    type: z.literal('reasoning'),
    summary: listOf(() => anyObject).nullish(),
    encrypted_content: z.string().nullish(),
  }),
  otherType,
])

const tool = z.union([
  z.looseObject({
    type: z.literal('function'),
    name: z.string(),
    description: z.string().nullish(),
    parameters: anyObject.nullish(),
    strict: z.boolean().nullish(),
  }),
  z.looseObject({ type: z.literal('custom'), name: z.string(), description: z.string().nullish() }),
  z.looseObject({ type: z.string().refine((type) => type !== 'function' && type !== 'custom', { abort: true }) }),
])

/** A whole number of one or more. */
const limit = z.int().positive().nullish()
const input = z.union([z.string(), listOf(() => item)])

/** Fields of a Responses request that routing, sending and pricing need; other fields are checked by their readers. */
export const headSchema = z.looseObject({
  model: modelName,
  stream: z.boolean().nullish(),
  max_output_tokens: limit,
})

/** Fields that `headSchema` checks. */
export const HEAD_FIELDS = Object.keys(headSchema.shape)

/** A Responses request, as far as the translation reads it. Unknown fields pass. */
export const responsesRequestSchema = z.looseObject({
  model: modelName,
  input,
  instructions: z.string().nullish(),
  tools: listOf(() => tool).nullish(),
  tool_choice: z.union([z.string(), anyObject]).nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  max_output_tokens: limit,
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  reasoning: z.looseObject({ effort: z.string().nullish() }).nullish(),
  text: z.looseObject({ format: z.looseObject({ type: z.string() }).nullish() }).nullish(),
  stream: z.boolean().nullish(),
  store: z.boolean().nullish(),
  previous_response_id: z.string().nullish(),
  metadata: anyObject.nullish(),
  safety_identifier: z.string().nullish(),
  prompt_cache_key: z.string().nullish(),
})

/** Returns the error for an invalid `body`; `fault` is the failed check of the translation. */
export function explainResponsesFault(body: unknown, fault: Error): GatewayError {
  const checked = responsesRequestSchema.safeParse(body)
  return new GatewayError('invalid_request', checked.success ? fault.message : explain(checked.error), { cause: fault })
}
