import test from 'ava'
import { streamOfMessage } from '../../core/reply/stream-of-message.ts'
import { answerOf } from './answer.ts'

const message = (text: string, id = 'toolu_1') => ({
  model: 'm',
  id: `msg_${id}`,
  type: 'message',
  role: 'assistant',
  content: [
    { type: 'text', text },
    { type: 'tool_use', id, name: 'look', input: { at: 1 } },
  ],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
})
const json = (text: string, id?: string) => JSON.stringify(message(text, id))

test('replay: replies with equal content are equal, regardless of ids and streaming', (t) => {
  const { comparable, text } = answerOf(json('Hello'))!
  t.is(answerOf(json('Hello', 'toolu_2'))?.comparable, comparable)
  t.is(answerOf(streamOfMessage(Buffer.from(json('Hello'))).toString())?.comparable, comparable)
  t.not(answerOf(json('Hello.'))?.comparable, comparable)
  t.regex(text, /^Hello\n.*look/)
})

test('replay: chat completions are read whole and as chunks, with their tool calls', (t) => {
  const chunk = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
  const call = (name: string | undefined, more: string) => ({
    tool_calls: [{ index: 0, function: { name, arguments: more } }],
  })
  const stream =
    chunk({ content: 'Hel' }) +
    chunk({ content: 'lo' }) +
    chunk(call('look', '{"at"')) +
    chunk(call(undefined, ':1}'), 'stop')
  const { text, comparable } = answerOf(`${stream}data: [DONE]\n\n`)!
  t.regex(text, /^Hello\n/)
  t.regex(comparable, /"name":"look","input":\{"at":1\}/)
  t.is(answerOf(stream), undefined)
  t.is(answerOf(JSON.stringify({ choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }] }))?.text, 'Hi')
})

test('replay: every choice of a chat completion counts', (t) => {
  const choices = (...texts: string[]) =>
    JSON.stringify({ choices: texts.map((content) => ({ message: { content }, finish_reason: 'stop' })) })
  const both = answerOf(choices('Hi', 'Ho'))
  t.is(both?.text, 'Hi\nHo')
  t.not(answerOf(choices('Hi', 'Hu'))?.comparable, both?.comparable)
  t.not(answerOf(choices('Hi'))?.comparable, both?.comparable)
})

test('replay: responses are read whole and as events, regardless of ids', (t) => {
  const response = (id: string) => ({
    id: `resp_${id}`,
    error: null,
    incomplete_details: null,
    output: [
      { id: `msg_${id}`, type: 'message', content: [{ type: 'output_text', text: 'Hi' }] },
      { id: `fc_${id}`, type: 'function_call', call_id: id, name: 'look', arguments: '{}' },
    ],
  })
  const whole = answerOf(JSON.stringify(response('a')))
  const data = JSON.stringify({ type: 'response.completed', response: response('b') })
  const created = 'event: response.created\ndata: {"response":{"output":[]}}\n\n'
  t.is(answerOf(`${created}event: response.completed\ndata: ${data}\n\n`)?.comparable, whole?.comparable)
  t.regex(whole?.text ?? '', /^Hi\n.*look/)
  t.is(answerOf(created), undefined)
})

test('replay: other JSON and cut streams are no reply', (t) => {
  for (const text of ['', 'null', '[]', '{', 'event: message_start\ndata: {}\n\n', '<html>'])
    t.is(answerOf(text), undefined, text)
  t.is(answerOf('{"error":{"message":"no"}}')?.comparable, '{"message":"no"}')
})
