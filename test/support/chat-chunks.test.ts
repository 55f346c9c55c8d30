import test from 'ava'
import { assembleCompletion, assertChatStream, parseChatChunks } from './chat-chunks.ts'
import type { JsonObject } from './json.ts'

const head = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }
const chunk = (delta: JsonObject, finish_reason: string | null = null, rest: JsonObject = {}) => ({
  ...head,
  choices: [{ index: 0, delta, finish_reason }],
  ...rest,
})
const role = chunk({ role: 'assistant', content: '' })
const word = chunk({ content: 'Hi.' })
const piece = (text: string, first: JsonObject = {}) => {
  const { name, ...rest } = first
  return chunk({ tool_calls: [{ index: 0, ...rest, function: { ...(name ? { name } : {}), arguments: text } }] })
}
const call = piece('', { id: 'a', type: 'function', name: 'f' })
const stop = chunk({}, 'stop')
const counts = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }
const usage = { ...head, choices: [], usage: counts }
const print = (...data: unknown[]) =>
  data.map((item) => `data: ${typeof item === 'string' ? item : JSON.stringify(item)}\n\n`).join('')

const good: Record<string, unknown[]> = {
  'text only': [role, word, stop],
  'a call in pieces': [role, call, piece('{"a":'), piece('1}'), chunk({}, 'tool_calls')],
  'usage at the end': [...[role, stop].map((item) => ({ ...item, usage: null })), usage],
}

const bad: Record<string, unknown[]> = {
  'no role': [word, stop],
  'a second role': [role, role, stop],
  'another id': [role, { ...word, id: 'd' }, stop],
  'another object': [role, { ...word, object: 'x' }, stop],
  'no finish_reason': [role, word],
  'two finish_reasons': [role, stop, stop],
  'text after the finish_reason': [role, stop, word],
  'an error': [role, { ...word, error: {} }, stop],
  'usage before the finish_reason': [{ ...role, usage: null }, usage, stop],
  'usage without null before it': [role, stop, usage],
  'null without usage after it': [{ ...role, usage: null }, stop],
  'a wrong sum': [
    ...[role, stop].map((item) => ({ ...item, usage: null })),
    { ...usage, usage: { ...counts, total_tokens: 4 } },
  ],
  'a call without an id': [role, piece('{}', { type: 'function', name: 'f' }), chunk({}, 'tool_calls')],
  'a call with a second id': [role, call, piece('{}', { id: 'b' }), chunk({}, 'tool_calls')],
  'arguments that are no object': [role, call, piece('{'), chunk({}, 'tool_calls')],
  'tool_calls without a call': [role, chunk({}, 'tool_calls')],
  'an unknown finish_reason': [role, chunk({}, 'end_turn')],
}

for (const [what, data] of Object.entries(good)) {
  test(`chat stream checker: accepts ${what}`, (t) => {
    t.is(assertChatStream(print(...data, '[DONE]')).length, data.length)
  })
}

for (const [what, data] of Object.entries(bad)) {
  test(`chat stream checker: refuses ${what}`, (t) => {
    t.throws(() => assertChatStream(print(...data, '[DONE]')), { message: /^chat stream|^chunk/ })
  })
}

test('chat stream checker: refuses a stream without [DONE], and anything after it', (t) => {
  t.throws(() => assertChatStream(print(role, stop)))
  t.throws(() => assertChatStream(print(role, stop, '[DONE]', '[DONE]')))
  t.throws(() => assertChatStream(print(role, stop, '[DONE]').trimEnd()))
})

test('chat stream checker: refuses events with a name', (t) => {
  t.throws(() => parseChatChunks(`event: chunk\n${print(role)}`))
})

test('chat stream checker: assembles the completion', (t) => {
  t.deepEqual(assembleCompletion(print(role, word, call, piece('{}'), chunk({}, 'tool_calls'), '[DONE]')), {
    ...head,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'Hi.',
          refusal: null,
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        logprobs: null,
        finish_reason: 'tool_calls',
      },
    ],
  })
})
