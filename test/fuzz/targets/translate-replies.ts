import { isUtf8 } from 'node:buffer'
import fc from 'fast-check'
import type { EventTranslator } from '../../../src/core/reply/event-translator.ts'
import { messageOfStream } from '../../../src/core/reply/message-of-stream.ts'
import { scanEvents } from '../../../src/core/reply/sse.ts'
import { streamOfMessage } from '../../../src/core/reply/stream-of-message.ts'
import * as chatErrors from '../../../src/dialects/chat/reply/errors.ts'
import { createChatChunks } from '../../../src/dialects/chat/reply/to-chat-chunks.ts'
import { toChatReply } from '../../../src/dialects/chat/reply/to-chat-reply.ts'
import * as fromChat from '../../../src/dialects/chat/reply/to-messages-events.ts'
import { toMessagesReply } from '../../../src/dialects/chat/reply/to-messages-reply.ts'
import * as gemini from '../../../src/providers/gemini/errors.ts'
import { toMessagesReply as geminiReply } from '../../../src/providers/gemini/reply.ts'
import * as fromGemini from '../../../src/providers/gemini/stream.ts'
import { assertMessageStream, parseEvents } from '../../support/events.ts'
import { isJsonObject, parseJson } from '../../support/json.ts'
import { attempt, type Fuzzer, promise } from '../fuzzer.ts'
import { JSON_WORDS } from './json-scan.ts'

const told = { model: 'm', id: 'msg_1' }
const usage = { input_tokens: 3, cache_creation_input_tokens: 2, cache_read_input_tokens: 1, output_tokens: 4 }
const text = fc.string({ unit: 'grapheme', maxLength: 8 })
const message = fc.tuple(text, text, fc.boolean()).map(([said, thought, calls]) => ({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm' },
  content: [
    { type: 'thinking', thinking: thought, signature: '' },
    { type: 'text', text: said },
    ...(calls ? [{ type: 'tool_use', id: 't1', name: 'f', input: { a: said } }] : []),
  ],
  ...{ stop_reason: calls ? 'tool_use' : 'end_turn', stop_sequence: null, usage },
}))
const candidate = fc
  .tuple(text, fc.constantFrom('STOP', 'MAX_TOKENS', 'SAFETY', undefined))
  .map(([said, finishReason]) => ({
    candidates: [
      { content: { parts: [{ text: said }, { functionCall: { name: 'f', args: { a: 1 } } }] }, finishReason },
    ],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4 },
    responseId: 'r1',
  }))

/** A reply of each kind as its provider would send it. */
const replies = fc.oneof(
  message.map((each) => JSON.stringify(each)),
  message.map((each) => streamOfMessage(JSON.stringify(each)).toString()),
  message.map((each) => toChatReply(Buffer.from(JSON.stringify(each)), { created: 1 })?.toString() ?? ''),
  message.map((each) => chatStreamOf(JSON.stringify(each))),
  candidate.map((each) => JSON.stringify(each)),
  fc.array(candidate, { maxLength: 3 }).map((list) => list.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('')),
  fc.constantFrom(
    '{"error":{"message":"no","code":429,"status":"RESOURCE_EXHAUSTED"}}',
    '[{"error":{}}]',
    'Bad Gateway',
  ),
)
const WORDS = [
  '\n\n',
  'data: ',
  'event: error\n',
  'data: [DONE]\n\n',
  '"finish_reason":"stop",',
  '"index":1,',
  '"index":-1,',
  '"delta":{},',
  '"tool_calls":[{"index":9}],',
  '"arguments":"{",',
  '"parts":[],',
  '"usage":null,',
  '"type":"message_stop"',
  '"text":1,',
  '"content":null,',
]

/**
 * Replies of any provider, also a mad or malicious one, as JSON and as streams: nothing throws; what comes out is JSON in
 * UTF-8, and a stream that is said to be complete keeps the rules of the Messages API.
 */
export const translateReplies: Fuzzer = {
  name: 'translate-replies',
  seeds: replies.map((reply) => Buffer.from(reply).toString('latin1')),
  words: [...JSON_WORDS, ...WORDS],
  mostMutations: 3,
  outcomes: ['complete', 'not complete', 'answer', 'no answer'],
  run({ text: reply, salt }) {
    const bytes = Buffer.from(reply, 'latin1')
    for (const toError of [chatErrors.toMessagesError, chatErrors.toChatError, gemini.toMessagesError])
      promise(isJsonObject(parseJson(toError(400 + (salt % 200), bytes).toString())), 'an error is a JSON object')
    switch (salt % 6) {
      case 0:
        return judgeAnswer(toMessagesReply(bytes, told))
      case 1:
        return judgeAnswer(geminiReply(bytes, told))
      case 2:
        return judgeAnswer(toChatReply(bytes, { created: 1 }))
      case 3:
        return judgeMessages(fromChat.createMessagesEvents(told), bytes)
      case 4:
        return judgeMessages(fromGemini.createMessagesEvents(told), bytes)
      default:
        return judgeChunks(bytes, salt)
    }
  },
}

function judgeAnswer(answer: Buffer | undefined): string {
  if (answer === undefined) return 'no answer'
  promise(isUtf8(answer) && isJsonObject(parseJson(answer.toString())), `an answer is a JSON object: ${answer}`)
  return 'answer'
}

function judgeMessages(translator: EventTranslator, bytes: Buffer): string {
  const stream = translated(translator, bytes)
  for (const { data } of parseEvents(stream)) promise(isJsonObject(data), 'each event is a JSON object')
  if (!translator.isComplete) return 'not complete'
  const checked = attempt(() => assertMessageStream(stream))
  // A model's arguments may be no JSON, and a stream has sent them on before that is known.
  const isKept = checked.error === undefined || /joined tool input/.test(String(checked.error))
  promise(isKept, `${checked.error} in ${stream}`)
  return 'complete'
}

function judgeChunks(bytes: Buffer, salt: number): string {
  const whole = messageOfStream(bytes)
  if (whole !== undefined) promise(isJsonObject(parseJson(whole.toString())), `a message is a JSON object: ${whole}`)
  const translator = createChatChunks({ created: 1, includeUsage: salt % 4 < 2 })
  const stream = translated(translator, bytes)
  for (const { data, text: said } of parseEvents(stream))
    promise(isJsonObject(data) || said === '[DONE]', `a chunk: ${said}`)
  return translator.isComplete ? 'complete' : 'not complete'
}

function translated(translator: EventTranslator, bytes: Buffer): string {
  let stream = ''
  scanEvents(bytes, (name, source, from, to) => {
    stream += translator.event(name, source.toString('utf8', from, to))
  })
  stream += translator.end()
  promise(stream.isWellFormed(), 'a stream is UTF-8')
  return stream
}

function chatStreamOf(json: string): string {
  return translated(createChatChunks({ created: 1, includeUsage: true }), streamOfMessage(json))
}
