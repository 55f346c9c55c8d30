/**
 * DESIGN: the shape of a chat completions request, for the error messages of invalid ones.
 *
 * Source: OpenAI's API reference, "Create chat completion", and the extensions that compatible servers share. Fields
 * that are not named here pass; null means an absent optional field. The translation checks every field that it reads
 * and uses the schema only after a check has failed.
 */
import { z } from 'zod'
import { GatewayError } from '../../core/errors.ts'
import { listOf } from '../../core/request/list-schema.ts'
import { explain, modelName } from '../../core/request/message.ts'

const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const

/** A value of `reasoning_effort`. */
export type Effort = (typeof EFFORTS)[number]

/** The token limit that means no limit. */
export const NO_LIMIT = -1

const anyObject = z.looseObject({})
const part = z.union([
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({ type: z.literal('refusal'), refusal: z.string() }),
  z.looseObject({ type: z.literal('image_url'), image_url: z.looseObject({ url: z.string() }) }),
  z.looseObject({ type: z.literal('file'), file: anyObject }),
  z.looseObject({
    // Without `abort`, zod would report this branch of the union alone.
    type: z.string().refine((type) => !['text', 'refusal', 'image_url', 'file'].includes(type), { abort: true }),
  }),
])
const content = z.union([z.string(), listOf(() => part)])
const functionCall = z.looseObject({ name: z.string(), arguments: z.string() })
const toolCall = z.union([
  z.looseObject({ id: z.string(), type: z.literal('function').nullish(), function: functionCall }),
  z.looseObject({ type: z.string().refine((type) => type !== 'function', { abort: true }) }),
])

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool', 'function']

const message = z.discriminatedUnion(
  'role',
  [
    z.looseObject({ role: z.enum(['system', 'developer', 'user']), content }),
    z.looseObject({
      role: z.literal('assistant'),
      content: content.nullish(),
      refusal: z.string().nullish(),
      tool_calls: listOf(() => toolCall).nullish(),
      function_call: functionCall.nullish(),
    }),
    z.looseObject({ role: z.literal('tool'), tool_call_id: z.string(), content: content.nullish() }),
    z.looseObject({ role: z.literal('function'), name: z.string(), content: content.nullish() }),
  ],
  { error: ({ code }) => (code === 'invalid_union' ? `expected one of ${ROLES.join(', ')}` : undefined) },
)

const definition = z.looseObject({
  name: z.string(),
  description: z.string().nullish(),
  parameters: anyObject.nullish(),
  strict: z.boolean().nullish(),
})
const tool = z.union([
  z.looseObject({ type: z.literal('function').nullish(), function: definition }),
  z.looseObject({ type: z.string().refine((type) => type !== 'function', { abort: true }) }),
])
// Its values are checked by the translation, whose own message lists them.
const choice = z.union([z.string(), anyObject])
/** A whole number of one or more, as a JSON number. */
const positive = z.int().positive().nullish()
/** The same; -1 means no limit (llama.cpp, LM Studio). */
const limit = z
  .int()
  .refine((tokens) => tokens > 0 || tokens === NO_LIMIT, 'expected number to be >0, or -1')
  .nullish()

/** Fields of a chat completions request that routing, sending and pricing need; other fields are checked by their readers. */
export const headSchema = z
  .looseObject({
    model: modelName,
    stream: z.boolean().nullish(),
    stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
    n: positive,
    max_tokens: limit,
    max_completion_tokens: limit,
  })
  .refine(
    ({ max_tokens: older, max_completion_tokens: newer }) => (older ?? newer ?? null) === (newer ?? older ?? null),
    {
      path: ['max_tokens'],
      message: 'expected the value of max_completion_tokens, or one of the two alone',
    },
  )

/** Fields that `headSchema` checks. */
export const HEAD_FIELDS = Object.keys(headSchema.shape)

/** A chat completions request, as far as the translation reads it. Unknown fields pass. */
export const chatRequestSchema = z.looseObject({
  model: modelName,
  messages: listOf(() => message).refine((list) => list.length > 0, 'expected at least one message'),
  tools: listOf(() => tool).nullish(),
  functions: listOf(() => definition).nullish(),
  tool_choice: choice.nullish(),
  function_call: choice.nullish(),
  parallel_tool_calls: z.boolean().nullish(),
  max_tokens: limit,
  max_completion_tokens: limit,
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  top_k: positive,
  stop: z.union([z.string(), listOf(() => z.string())]).nullish(),
  stream: z.boolean().nullish(),
  user: z.string().nullish(),
  safety_identifier: z.string().nullish(),
  reasoning_effort: z.enum(EFFORTS).nullish(),
  reasoning: z
    .looseObject({
      effort: z.enum(EFFORTS).nullish(),
      max_tokens: positive,
      enabled: z.boolean().nullish(),
    })
    .nullish(),
  thinking: z.looseObject({ type: z.string() }).nullish(),
  response_format: z
    .looseObject({ type: z.string(), json_schema: z.looseObject({ schema: anyObject.nullish() }).nullish() })
    .nullish(),
})

/** Returns true for a value of `reasoning_effort`. */
export function isEffort(value: unknown): value is Effort {
  return EFFORTS.some((effort) => effort === value)
}

/** Returns the error for an invalid `body`; `fault` is the failed check of the translation. */
export function explainChatFault(body: unknown, fault: Error): GatewayError {
  const checked = chatRequestSchema.safeParse(body)
  return new GatewayError('invalid_request', checked.success ? fault.message : explain(checked.error), { cause: fault })
}
