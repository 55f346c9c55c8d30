import { z } from 'zod'
import { messageRequestSchema, messageSchema } from '../../core/request/message.ts'
import { chatRequestSchema } from '../../dialects/chat/request-schema.ts'
import { responsesRequestSchema } from '../../dialects/responses/request-schema.ts'
import { receiptSchema } from '../../journal/receipts/schema.ts'
import { ACCOUNT_SCHEMAS } from './account-schemas.ts'
import { ADMIN_SCHEMAS } from './admin-schemas.ts'
import { PAYMENT_SCHEMAS } from './payment-schemas.ts'
import { amount, anyOf, count, described, list, object, ref, text } from './shapes.ts'
import { SIGN_IN_SCHEMAS } from './sign-in-routes.ts'

const model = object({ id: text, object: anyOf('model'), type: anyOf('model'), display_name: text, owned_by: text })

/** Schemas of the OpenAPI document (JSON Schema 2020-12); unknown members are allowed. */
export const SCHEMAS = {
  MessageRequest: {
    ...described(messageRequestSchema.extend({ messages: z.array(messageSchema) })),
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
  ChatRequest: described(chatRequestSchema),
  ChatCompletion: object({
    id: text,
    object: anyOf('chat.completion'),
    model: text,
    choices: list({ type: 'object' }),
  }),
  ResponsesRequest: described(responsesRequestSchema),
  Response: object({
    id: text,
    object: anyOf('response'),
    status: anyOf('completed', 'incomplete', 'failed'),
    model: text,
    output: list({ type: 'object' }),
    usage: { type: 'object' },
  }),
  DeletedResponse: object({ id: text, object: anyOf('response'), deleted: { type: 'boolean' } }),
  InputItems: object({ object: anyOf('list'), data: list({ type: 'object' }), has_more: { type: 'boolean' } }),
  CompactedConversation: object({
    id: text,
    object: anyOf('response.compaction'),
    output: list({ type: 'object' }),
    usage: { type: 'object' },
  }),
  Model: model,
  ModelList: object({ object: anyOf('list'), data: list(ref('Model')), has_more: { type: 'boolean' } }),
  Receipt: described(receiptSchema),
  ReceiptList: object({ data: list(ref('Receipt')), has_more: { type: 'boolean' } }),
  ReceiptKeys: object({
    keys: list(object({ kid: text, kty: text, crv: text, alg: text, use: text, x: text })),
    note: text,
  }),
  LedgerHead: object({
    origin: text,
    checkpoint: { type: ['string', 'null'], description: 'Null while it is empty.' },
  }),
  InclusionProof: object({ leaf_index: count, leaf_hash: text, hashes: list(text), checkpoint: text }),
  ConsistencyProof: object({ hashes: list(text), checkpoint: text }),
  Health: object({
    status: anyOf('ok'),
    version: text,
    uptime: { ...amount, description: 'Seconds.' },
    startedAt: { ...count, description: 'Milliseconds since 1970.' },
    providers: { type: 'object', description: 'Which providers have a credential.' },
  }),
  Ready: object({ status: anyOf('ready', 'draining', 'failing') }),
  ...ACCOUNT_SCHEMAS,
  ...ADMIN_SCHEMAS,
  ...SIGN_IN_SCHEMAS,
  ...PAYMENT_SCHEMAS,
} as const
