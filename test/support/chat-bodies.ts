/** Chat completions requests as clients send them, for tests. Every one is valid on OpenAI unless its comment excludes it. */
import type { JsonObject } from './json.ts'

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const PDF = 'data:application/pdf;base64,JVBERi0xLjQKJeLjz9MKMSAwIG9iago8PD4+CmVuZG9iagp0cmFpbGVyCjw8Pj4KJSVFT0Y='

const weatherParameters = {
  type: 'object',
  properties: {
    city: { type: 'string', description: 'The city, e.g. Vienna' },
    unit: { type: 'string', enum: ['celsius', 'kelvin'] },
  },
  required: ['city', 'unit'],
  additionalProperties: false,
}

const forecastSchema = {
  type: 'object',
  properties: {
    city: { type: 'string' },
    days: {
      type: 'array',
      items: {
        type: 'object',
        properties: { high: { type: 'number' }, rain: { anyOf: [{ type: 'number' }, { type: 'null' }] } },
        required: ['high', 'rain'],
        additionalProperties: false,
      },
    },
  },
  required: ['city', 'days'],
  additionalProperties: false,
}

/** Two tools: a strict one with arguments, and one without any. */
export const chatTools: readonly JsonObject[] = [
  {
    type: 'function',
    function: { name: 'get_weather', description: 'The weather of today', parameters: weatherParameters, strict: true },
  },
  { type: 'function', function: { name: 'get_time', parameters: { type: 'object', properties: {} } } },
]

/** Builds a user message: text, or parts. */
export function user(content: string | readonly JsonObject[]): JsonObject {
  return { role: 'user', content }
}

/** Builds a tool call of an assistant message; its arguments are text. */
export function toolCall(id: string, name: string, args: string): JsonObject {
  return { id, type: 'function', function: { name, arguments: args } }
}

/** Builds the message that answers a tool call. */
export function toolAnswer(id: string, content: string | readonly JsonObject[]): JsonObject {
  return { role: 'tool', tool_call_id: id, content }
}

/** Builds a request with one user message; `extra` adds or replaces members. */
export function chat(text: string, extra: JsonObject = {}): JsonObject {
  return { model: 'gpt-4o-mini', messages: [user(text)], ...extra }
}

/** Builds a request with these messages. */
export function conversation(messages: readonly JsonObject[], extra: JsonObject = {}): JsonObject {
  return chat('', { messages, ...extra })
}

/** Builds a request with system prompt, sampling and a token limit, and a short conversation of text. */
export function chatWithSettings(extra: JsonObject = {}): JsonObject {
  const messages = [
    { role: 'system', content: 'Answer in one sentence.' },
    user('Who wrote Faust?'),
    { role: 'assistant', content: 'Goethe did.' },
    user([{ type: 'text', text: 'And who set it to music?' }]),
  ]
  const settings = { max_completion_tokens: 200, temperature: 0.2, top_p: 0.9, stop: ['###'], user: 'user-7', seed: 3 }
  return conversation(messages, { ...settings, ...extra })
}

/** Builds a request with images by data URL and by address, between text parts. */
export function chatWithImages(extra: JsonObject = {}): JsonObject {
  const parts = [
    { type: 'text', text: 'What differs?' },
    { type: 'image_url', image_url: { url: PIXEL, detail: 'low' } },
    { type: 'image_url', image_url: { url: 'https://images.example.com/second.png' } },
  ]
  return conversation([user(parts)], { model: 'gpt-4o', ...extra })
}

/** Builds a request with a PDF by its data. A compatible server refuses it. */
export function chatWithFile(extra: JsonObject = {}): JsonObject {
  const file = { type: 'file', file: { filename: 'contract.pdf', file_data: PDF } }
  return conversation([user([file, { type: 'text', text: 'Who signs?' }])], { model: 'gpt-4o', ...extra })
}

/** Builds a request with tools that the model may call. */
export function chatWithTools(extra: JsonObject = {}): JsonObject {
  return chat('What is the weather in Vienna?', { tools: chatTools, tool_choice: 'auto', ...extra })
}

/** Builds a history of parallel calls and answers in another order, then a question. JSON.parse would change its arguments. */
export function chatWithToolHistory(extra: JsonObject = {}): JsonObject {
  const calls = [
    toolCall('call_vienna', 'get_weather', '{"city": "Vienna", "unit": "celsius", "10": 1.0, "2": 9007199254740993}'),
    toolCall('call_time', 'get_time', '{}'),
  ]
  const messages = [
    { role: 'system', content: 'You know the weather.' },
    user('Weather and time in Vienna?'),
    { role: 'assistant', content: null, tool_calls: calls },
    toolAnswer('call_time', '12:30'),
    toolAnswer('call_vienna', [{ type: 'text', text: '21 degrees' }]),
    { role: 'assistant', content: 'It is half past twelve and 21 degrees warm.' },
    user('Thank you. And tomorrow?'),
  ]
  return conversation(messages, { tools: chatTools, parallel_tool_calls: true, ...extra })
}

/** Builds a request for a reply in a strict JSON schema. */
export function chatWithJsonSchema(extra: JsonObject = {}): JsonObject {
  const format = { type: 'json_schema', json_schema: { name: 'forecast', schema: forecastSchema, strict: true } }
  return chat('Forecast for Vienna', { model: 'gpt-4o', response_format: format, ...extra })
}

/** Builds a request to a reasoning model, with all members that only these accept and none that they refuse. */
export function chatWithReasoning(extra: JsonObject = {}): JsonObject {
  const messages = [{ role: 'developer', content: 'Think first.' }, user('Is 2047 prime?')]
  return conversation(messages, { model: 'gpt-5', reasoning_effort: 'low', max_completion_tokens: 4096, ...extra })
}

/** Builds a request with a compatible server's reasoning in the assistant message. OpenAI refuses the member. */
export function chatWithReasoningHistory(extra: JsonObject = {}): JsonObject {
  const answer = { role: 'assistant', content: 'No.', reasoning_content: '2047 is 23 times 89.' }
  const messages = [user('Is 2047 prime?'), answer, user('And 8191?')]
  return conversation(messages, { model: 'deepseek-reasoner', max_tokens: 512, ...extra })
}

/** Builds a request with members that the API does not have. OpenAI refuses them, compatible servers ignore them. */
export function chatWithUnknownMembers(extra: JsonObject = {}): JsonObject {
  const part = { type: 'text', text: 'hi', cache_control: { type: 'ephemeral' } }
  return conversation([user([part])], { top_k: 40, novel: { deep: [1.0] }, ...extra })
}

/** Makes the request a stream without usage. */
export function streamed(body: JsonObject): JsonObject {
  return { ...body, stream: true }
}

/** Makes the request a stream that ends with its usage. */
export function streamedWithUsage(body: JsonObject): JsonObject {
  return { ...body, stream: true, stream_options: { include_usage: true } }
}
