import test from 'ava'
import { MESSAGES_REPLIES } from '../../src/core/reply/reply-dialect.ts'
import { CHAT_REPLIES } from '../../src/dialects/chat/replies.ts'
import { hasFinished, textOf } from './stream-text.ts'

const texts: [claim: string, data: object, text: string][] = [
  ['text', { delta: { type: 'text_delta', text: 'a' } }, 'a'],
  ['a tool’s input', { delta: { type: 'input_json_delta', partial_json: '{"' } }, '{"'],
  ['thoughts', { delta: { type: 'thinking_delta', thinking: 'b' } }, 'b'],
  ['an unknown delta', { delta: { type: 'new_delta', x: 1 } }, '{"type":"new_delta","x":1}'],
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
