import test from 'ava'
import fc from 'fast-check'
import { assembleCompletion } from '../../../../test/support/chat-chunks.ts'
import { assertMessageStream, parseEvents } from '../../../../test/support/events.ts'
import { messageOfStream } from '../../../core/reply/message-of-stream.ts'
import { streamOfMessage } from '../../../core/reply/stream-of-message.ts'
import { createChatChunks } from './to-chat-chunks.ts'
import { toChatReply } from './to-chat-reply.ts'
import { createMessagesEvents } from './to-messages-events.ts'
import { toMessagesReply } from './to-messages-reply.ts'

const created = 1_700_000_000
const fallback = { model: 'asked', id: 'msg_fallback' }

/** JSON objects as texts that parsing and printing would change: 1.0, 2^53+1, keys like numbers, white space. */
const exactInput = fc
  .array(
    fc.record({
      key: fc.oneof(fc.constantFrom('10', '2', 'a', '\\u00e9', 'é'), fc.nat().map(String)),
      value: fc.oneof(
        fc.constantFrom('1.0', '9007199254740993', '-0', '1e5', '"\\u20ac"', '{"3":1,"1": [ ]}'),
        fc.json(),
      ),
    }),
  )
  .map((members) => `{${members.map(({ key, value }) => `"${key}": ${value}`).join(',')}}`)

const blocks = fc.record({
  thinking: fc.string({ unit: 'grapheme' }),
  text: fc.string({ unit: 'grapheme' }),
  inputs: fc.array(exactInput, { maxLength: 3 }),
})

/** Builds a message in the order of blocks that a completion can represent: thinking, text, tools. */
function messageOf({ thinking, text, inputs }: { thinking: string; text: string; inputs: string[] }): string {
  const content = [
    ...(thinking === '' ? [] : [JSON.stringify({ type: 'thinking', thinking, signature: '' })]),
    ...(text === '' ? [] : [JSON.stringify({ type: 'text', text })]),
    ...inputs.map((input, index) => `{"type":"tool_use","id":"t${index}","name":"f","input":${input}}`),
  ]
  const reason = inputs.length > 0 ? 'tool_use' : 'end_turn'
  const usage = '{"input_tokens":3,"cache_creation_input_tokens":2,"cache_read_input_tokens":1,"output_tokens":4}'
  return `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[${content.join(',')}],"stop_reason":"${reason}","stop_sequence":null,"usage":${usage}}`
}

function toChatStream(message: string): string {
  const translator = createChatChunks({ created, includeUsage: true })
  const events = parseEvents(streamOfMessage(message)).map(({ event, text }) => translator.event(event, text))
  return events.join('') + translator.end()
}

test('round trip: a message as JSON comes back from chat byte for byte', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(blocks.map(messageOf), (message) => {
        const completion = toChatReply(Buffer.from(message), { created })
        t.is(String(toMessagesReply(completion ?? Buffer.of(), fallback)), message)
      }),
    ),
  )
})

test('round trip: a message as a stream comes back from chat as the same stream', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(blocks.map(messageOf), (message) => {
        const translator = createMessagesEvents(fallback)
        const back = parseEvents(toChatStream(message)).map(({ event, text }) => translator.event(event, text))
        const stream = back.join('') + translator.end()
        assertMessageStream(stream)
        t.is(String(messageOfStream(Buffer.from(stream))), message)
      }),
    ),
  )
})

test('round trip: a stream of chunks has the same content as the completion as JSON', (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(blocks.map(messageOf), (message) => {
        const completion = JSON.parse(String(toChatReply(Buffer.from(message), { created })))
        t.deepEqual(assembleCompletion(toChatStream(message)), completion)
      }),
    ),
  )
})
