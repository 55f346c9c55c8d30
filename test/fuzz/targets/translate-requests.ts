import { isUtf8 } from 'node:buffer'
import fc from 'fast-check'
import { GatewayError } from '../../../src/core/errors.ts'
import { messageRequestSchema } from '../../../src/core/request/message.ts'
import type { RequestDocument } from '../../../src/core/request/request.ts'
import { createChatDialect } from '../../../src/dialects/chat/dialect.ts'
import { toChatRequest } from '../../../src/dialects/chat/to-chat-request.ts'
import { parseMessagesRequest } from '../../../src/dialects/messages/parse.ts'
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

const dialect = () => createChatDialect({ defaultMaxTokens: 4096, modelNamed: (name) => name, nowMs: () => 0 })
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
const WORDS = [
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
 * Bodies in both dialects, and what each provider is sent of them: refused with `invalid_request`, or a body that is
 * JSON in UTF-8; what a chat client asked is a request that the Messages schema takes, and names in headers are plain.
 */
export const translateRequests: Fuzzer = {
  name: 'translate-requests',
  seeds: fc
    .oneof(fc.constantFrom(...CHATS), fc.constantFrom(...CHATS), requests, brokenRequests)
    .map((body) => Buffer.from(JSON.stringify(body)).toString('latin1')),
  words: [...JSON_WORDS, ...WORDS],
  mostMutations: 1,
  outcomes: ['translated for all', 'refused', 'refused by some'],
  run({ text, salt }) {
    const padded = salt % 4 === 0 ? text.replace('{', `{${PADDING}`) : text
    const bytes = Buffer.from(padded, 'latin1')
    const isChat = salt % 2 === 0
    const canonical = attempt(() => (isChat ? fromChat(bytes) : parseMessagesRequest(bytes)))
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

function fromChat(bytes: Buffer): RequestDocument {
  const request = dialect().parse(bytes)
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
