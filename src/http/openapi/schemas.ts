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
  PaymentProblem: {
    type: 'object',
    required: ['type', 'title', 'status', 'detail'],
    properties: {
      type: { type: 'string', format: 'uri' },
      title: { type: 'string' },
      status: { type: 'integer', const: 402 },
      detail: { type: 'string' },
    },
  },
} as const
