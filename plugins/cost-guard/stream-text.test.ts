import test from 'ava'
import { MESSAGES_REPLIES } from '../../src/core/reply/reply-dialect.ts'
import { CHAT_REPLIES } from '../../src/dialects/chat/replies.ts'
import { parseJson, valueAt } from '../../test/support/json.ts'
import { loadRecordings } from '../../test/support/recordings.ts'
import { hasFinished, textOf } from './stream-text.ts'
import { tokenBound } from './text-bound.ts'

const texts: [claim: string, data: object, text: string][] = [
  ['text', { delta: { type: 'text_delta', text: 'a' } }, 'a'],
  ['a tool’s input', { delta: { type: 'input_json_delta', partial_json: '{"' } }, '{"'],
  ['thoughts', { delta: { type: 'thinking_delta', thinking: 'b' } }, 'b'],
  ['an unknown delta', { delta: { type: 'new_delta', x: 1 } }, '{"type":"new_delta","x":1}'],
  [
    'a text that is no string',
    { delta: { text: ['many words'], thinking: 5 } },
    '{"text":["many words"],"thinking":5}',
  ],
  ['a delta that is no object', { delta: null }, '{"delta":null}'],
  ['the start of a block', { content_block: { type: 'tool_use', name: 'f' } }, '{"type":"tool_use","name":"f"}'],
]
for (const [claim, data, text] of texts) {
  test(`stream text: of ${claim}`, (t) => t.is(textOf(JSON.stringify(data)), text))
}
test('stream text: invalid JSON counts in full', (t) => t.is(textOf('{"delta'), '{"delta'))

const chunk = (delta: object, reason: string | null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`
const ends: [claim: string, dialect: typeof MESSAGES_REPLIES, text: string, expected: boolean][] = [
  ['a chat stream with a finish reason', CHAT_REPLIES, chunk({ content: 'a' }, null) + chunk({}, 'stop'), true],
  ['a chat stream that is done', CHAT_REPLIES, 'data: [DONE]\r\n\r\n', true],
  ['a chat stream that continues', CHAT_REPLIES, chunk({ content: '"finish_reason"' }, null), false],
  [
    'a Messages stream that has stopped',
    MESSAGES_REPLIES,
    'event: message_stop\ndata: {"type":"message_stop"}\n\n',
    true,
  ],
  ['a Messages stream that continues', MESSAGES_REPLIES, 'event: content_block_stop\ndata: {"index":0}\n\n', false],
]
for (const [claim, dialect, text, expected] of ends) {
  test(`stream text: ${claim} has ${expected ? '' : 'not '}finished`, (t) => {
    t.is(hasFinished([Buffer.from(text.slice(0, 20)), Buffer.from(text.slice(20))], dialect), expected)
  })
}

const bounds: [text: string, tokens: number][] = [
  ['', 0],
  ['words', 3],
  ['1234', 4],
  ['{"a":1}', 7],
  ['é', 2],
  ['漢', 3],
  ['😀', 4],
]
for (const [text, tokens] of bounds) {
  test(`text bound: ${JSON.stringify(text)} has at most ${tokens} tokens`, (t) => t.is(tokenBound(text), tokens))
}

test('text bound: more text never has less', (t) => {
  const text = 'Some words, 12 numbers; é 漢 and {"json": [1.0]}'
  for (let end = 1; end <= text.length; end++)
    t.true(tokenBound(text.slice(0, end)) >= tokenBound(text.slice(0, end - 1)))
})

test('text bound: no recorded stream has more tokens than its text allows', (t) => {
  const { items, absent } = loadRecordings()
  if (absent !== undefined) {
    t.log(absent)
    return t.pass()
  }
  let seen = 0
  for (const { name, request, response } of items) {
    // A refused model's text is billed but not in the stream; thinking is summarised.
    const isHidden = name.includes('fallback') || valueAt(parseJson(request.body.toString()), 'thinking') !== undefined
    if (!response.isStream || isHidden) continue
    const events = [...response.bytes.toString().matchAll(/^data: ?(.*)$/gm)].map(([, data = '']) => data)
    const bound = events
      .filter((data) => /"type": ?"content_block_(start|delta)"/.test(data))
      .reduce((sum, data) => sum + tokenBound(textOf(data)), 0)
    const counts = events.map((data) => Number(valueAt(parseJson(data), 'usage.output_tokens') ?? 0))
    t.true(bound >= Math.max(...counts), `${name}: ${bound} of ${Math.max(...counts)}`)
    seen++
  }
  t.true(seen > 5)
})
