import { isUtf8 } from 'node:buffer'
import fc from 'fast-check'
import { GatewayError } from '../../../src/core/errors.ts'
import { messageRequestSchema } from '../../../src/core/request/message.ts'
import type { RequestDocument } from '../../../src/core/request/request.ts'
import { createChatDialect } from '../../../src/dialects/chat/dialect.ts'
import { toChatRequest } from '../../../src/dialects/chat/to-chat-request.ts'
import { parseMessagesRequest } from '../../../src/dialects/messages/parse.ts'
import { createResponsesDialect } from '../../../src/dialects/responses/dialect.ts'
import { toCountTokensRequest, toGeminiRequest } from '../../../src/providers/gemini/request.ts'
import {
  chat,
  chatTools,
  chatWithSettings,
  conversation,
  toolAnswer,
  toolCall,
  user,
} from '../../support/chat-bodies.ts'
import { COMPATIBLE, OPENAI } from '../../support/chat-translation.ts'
import { brokenRequests, requests } from '../../support/request-bodies.ts'
import { attempt, type Fuzzer, promise } from '../fuzzer.ts'
import { JSON_WORDS } from './json-scan.ts'

const OPTIONS = { defaultMaxTokens: 4096, modelNamed: (name: string) => name, nowMs: () => 0 }
const createDialect = { chat: () => createChatDialect(OPTIONS), responses: () => createResponsesDialect(OPTIONS) }
/** Longer bodies are not parsed whole when they are taken in, and what is inside their strings is not looked at. */
const PADDING = `"padding":"${'x'.repeat(8192)}",`
const CHATS = [
  chat('hello'),
  chatWithSettings(),
  conversation(
    [
      user('time?'),
      { role: 'assistant', content: null, tool_calls: [toolCall('c1', 'f', '{"a":1.0}')] },
      toolAnswer('c1', 'noon'),
    ],
    { tools: chatTools, tool_choice: 'auto' },
  ),
  chat('think', {
    reasoning_effort: 'high',
    response_format: { type: 'json_object' },
    stop: ['a', 'b'],
    stream: true,
    n: 1,
  }),
  conversation([
    user([
      { type: 'text', text: 'see' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } },
    ]),
  ]),
]
const RESPONSES = [
  { model: 'm', input: 'hello', instructions: 'Be brief.', reasoning: { effort: 'high' }, store: false },
  {
    model: 'm',
    input: [
      user([{ type: 'input_image', image_url: 'data:image/png;base64,aGk=' }]),
      {
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'Hm.' }],
        encrypted_content: 'messages-thinking:YQ==',
      },
      { type: 'function_call', call_id: 'c', name: 'read', namespace: 'ns', arguments: '{"a":1.0}' },
      { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_text', text: 'noon' }] },
      { type: 'custom_tool_call', call_id: 'd', name: 'p', input: 'x' },
      { type: 'custom_tool_call_output', call_id: 'd', output: 'y' },
    ],
    tools: [
      { type: 'namespace', name: 'ns', tools: [{ type: 'function', name: 'read', parameters: {} }] },
      { type: 'custom', name: 'p', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
    ],
    tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'custom', name: 'p' }] },
    text: { format: { type: 'json_schema', name: 'n', schema: {} } },
  },
]
const WORDS = [
  '"type":"function_call",',
  '"input":[],',
  '"encrypted_content":"messages-redacted:x",',
  '"namespace":"n",',
  '"role":"tool",',
  '"tool_calls":[{}],',
  '"content":[{"type":"text"}],',
  '"type":"tool_use"',
  '"stop":[],',
  '"tools":[],',
  '"thinking":{"type":"enabled","budget_tokens":1024},',
  '"max_tokens":1',
  '"temperature":2,',
  '"image_url":"http://169.254.169.254/",',
]

/**
 * Bodies in every dialect, and what each provider is sent of them: refused with `invalid_request`, or a body that is
 * JSON in UTF-8; what a client of another dialect asked is a request that the Messages schema takes, and names in headers are plain.
 */
export const translateRequests: Fuzzer = {
  name: 'translate-requests',
  seeds: fc
    .oneof(fc.constantFrom(...CHATS), fc.constantFrom(...RESPONSES), requests, brokenRequests)
    .map((body) => Buffer.from(JSON.stringify(body)).toString('latin1')),
  words: [...JSON_WORDS, ...WORDS],
  mostMutations: 1,
  outcomes: ['translated for all', 'refused', 'refused by some'],
  run({ text, salt }) {
    const padded = salt % 4 === 0 ? text.replace('{', `{${PADDING}`) : text
    const bytes = Buffer.from(padded, 'latin1')
    const isOfOpenai = salt % 2 === 0
    const name = /"input"/.test(text) ? 'responses' : 'chat'
    const canonical = attempt(() => (isOfOpenai ? from(name, bytes) : parseMessagesRequest(bytes)))
    if ('error' in canonical) return refused(canonical.error)
    const request = canonical.value
    const told = [
      attempt(() => toChatRequest(request, { model: 'gpt-5', habits: OPENAI, assumed: [] })),
      attempt(() => toChatRequest(request, { model: 'm', habits: COMPATIBLE, assumed: ['max_tokens'] })),
      attempt(() => toGeminiRequest(request, { model: 'gemini-2.5-pro', assumed: [] })),
      attempt(() => toCountTokensRequest(request, { model: 'gemini-2.5-pro' })),
    ]
    const hasTold = told.map((each) => {
      if ('error' in each) return refused(each.error) === ''
      if (isJson(bytes)) assertJson(each.value.bytes)
      assertPlain(each.value.droppedFields.dropped)
      return each.value.droppedFields.refused.length === 0
    })
    return hasTold.includes(false) ? 'refused by some' : 'translated for all'
  },
}

function from(name: 'chat' | 'responses', bytes: Buffer): RequestDocument {
  const request = createDialect[name]().parse(bytes)
  const { canonical } = request
  if (!isJson(bytes)) return parseMessagesRequest(canonical.bytes)
  promise(isUtf8(canonical.bytes), 'the translation is UTF-8')
  const parsed = messageRequestSchema.safeParse(JSON.parse(canonical.bytes.toString()))
  promise(parsed.success, `the translation is a Messages request: ${parsed.error}`)
  assertPlain(request.droppedFields.dropped)
  return parseMessagesRequest(canonical.bytes)
}

function refused(error: unknown): string {
  const isTyped = error instanceof GatewayError && error.code === 'invalid_request'
  promise(isTyped, `threw ${error instanceof Error ? error.stack : error}`)
  return 'refused'
}

function assertJson(bytes: Buffer): void {
  promise(isUtf8(bytes) && isJson(bytes), `it is JSON in UTF-8: ${bytes}`)
}

/** A wrong escape in a long body passes, and its provider refuses it. */
function isJson(bytes: Buffer): boolean {
  return attempt(() => JSON.parse(bytes.toString()) as unknown).error === undefined
}

function assertPlain(names: readonly string[]): void {
  promise(/^[ -~]{0,4000}$/.test(names.join(', ')), `fits a header: ${names}`)
}
