import { ACCOUNT_SCHEMAS } from './account-schemas.ts'
import { PAYMENT_SCHEMAS } from './payment-schemas.ts'
import { amount, anyOf, count, list, object, ref, text, time } from './shapes.ts'

const model = object({ id: text, object: anyOf('model'), type: anyOf('model'), display_name: text, owned_by: text })

/** Its members are told in docs/receipts.md. */
const receipt = object({
  v: { type: 'integer', const: 1 },
  id: text,
  created_at: time,
  request_id: text,
  route: text,
  outcome: anyOf('complete', 'incomplete', 'cancelled', 'error'),
  pipeline: text,
  cost: { type: 'object' },
  signature: { type: 'object' },
})

/** Schemas of the OpenAPI document (JSON Schema 2020-12); unknown members pass through, so none is closed. */
export const SCHEMAS = {
  MessageRequest: {
    type: 'object',
    required: ['model', 'max_tokens', 'messages'],
    properties: {
      model: { type: 'string', minLength: 1, examples: ['claude-sonnet-4-5', 'openai/gpt-5-mini'] },
      max_tokens: { type: 'integer', minimum: 1 },
      messages: {
        type: 'array',
        minItems: 1,
        items: {
          type: 'object',
          required: ['role', 'content'],
          properties: {
            role: { type: 'string', enum: ['user', 'assistant', 'system'] },
            content: { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'object' } }] },
          },
        },
      },
      system: { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'object' } }] },
      stream: { type: 'boolean', default: false },
      temperature: { type: 'number', minimum: 0, maximum: 2 },
      top_p: { type: 'number', minimum: 0, maximum: 1 },
      top_k: { type: 'integer', minimum: 1 },
      stop_sequences: { type: 'array', items: { type: 'string' } },
      tools: { type: 'array', items: { type: 'object' } },
    },
    example: { model: 'claude-sonnet-4-5', max_tokens: 256, messages: [{ role: 'user', content: 'Hello' }] },
  },
  Message: {
    type: 'object',
    required: ['id', 'type', 'role', 'content', 'model', 'usage'],
    properties: {
      id: { type: 'string' },
      type: { type: 'string', const: 'message' },
      role: { type: 'string', const: 'assistant' },
      content: { type: 'array', items: { type: 'object' } },
      model: { type: 'string' },
      stop_reason: { type: ['string', 'null'] },
      usage: { type: 'object' },
    },
  },
  Error: {
    type: 'object',
    required: ['type', 'error'],
    properties: {
      type: { type: 'string', const: 'error' },
      error: {
        type: 'object',
        required: ['type', 'message'],
        properties: { type: { type: 'string' }, message: { type: 'string' }, detail: { type: 'string' } },
      },
      request_id: { type: 'string' },
    },
  },
  TokenCount: object({ input_tokens: count }),
  ChatRequest: object(
    { model: text, messages: { type: 'array', minItems: 1, items: { type: 'object' } } },
    { stream: { type: 'boolean', default: false }, max_completion_tokens: { type: 'integer', minimum: 1 } },
  ),
  ChatCompletion: object({
    id: text,
    object: anyOf('chat.completion'),
    model: text,
    choices: list({ type: 'object' }),
  }),
  Model: model,
  ModelList: object({ object: anyOf('list'), data: list(ref('Model')), has_more: { type: 'boolean' } }),
  Receipt: receipt,
  ReceiptList: object({ data: list(ref('Receipt')), has_more: { type: 'boolean' } }),
  ReceiptKeys: object({ keys: list(object({ kid: text, kty: text, crv: text, alg: text, use: text, x: text })) }),
  Health: object({
    status: anyOf('ok'),
    version: text,
    uptime: { ...amount, description: 'Seconds.' },
    startedAt: { ...count, description: 'Milliseconds since 1970.' },
    providers: { type: 'object', description: 'Which providers have a credential.' },
  }),
  Ready: object({ status: anyOf('ready', 'draining', 'failing') }),
  ...ACCOUNT_SCHEMAS,
  ...PAYMENT_SCHEMAS,
} as const
