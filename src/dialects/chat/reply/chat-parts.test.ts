import test from 'ava'
import { eventsOf, textOf } from '../../../core/rewrite/held-event.ts'
import { createChatPartReader, partsOfCompletion } from './chat-parts.ts'

/** Reads the parts of a stream of deltas, one choice each unless `index` is set, as `kind key tool text`, and the ended parts. */
function read(...choices: readonly object[]): string[] {
  const reader = createChatPartReader()
  return choices.flatMap((choice) => {
    const [event] = eventsOf(Buffer.from(`data: ${JSON.stringify({ choices: [choice] })}\n\n`))
    const { data = '', name = '' } = event ?? {}
    const { parts, ended } = reader.read(name, data)
    const found = parts.map((part) => `${part.kind} ${part.key} ${part.tool} ${textOf(data, part)}`)
    return [...found, ...(ended === 'all' ? ['all'] : ended.map((key) => `end ${key}`))]
  })
}

const call = (index: number, more: object) => ({ delta: { tool_calls: [{ index, ...more }] } })
const head = (id: string, name: string) => ({ id, function: { name, arguments: '' } })

test('chat parts: texts, parts of texts, refusals and thinking of each choice', (t) => {
  const parts = [{ type: 'text', text: 'a' }, { type: 'thinking', thinking: 'b' }, 'c']
  t.deepEqual(
    read(
      { index: 0, delta: { role: 'assistant', content: '', reasoning_content: 'thought' } },
      { index: 1, delta: { content: 'é😀' } },
      { index: 0, delta: { content: parts, refusal: 'no' } },
      { index: 1, delta: {}, finish_reason: 'stop' },
    ),
    [
      'reasoning 0:reasoning_content  thought',
      'text 1:content  é😀',
      'text 0:content  a',
      'text 0:refusal  no',
      'end 0:reasoning_content',
      'end 1:content',
      'end 1:refusal',
    ],
  )
})

test('chat parts: interleaved calls keep their keys, and end with their choice', (t) => {
  t.deepEqual(
    read(
      call(0, head('call_1', 'run')),
      call(1, head('call_2', 'look')),
      call(0, { function: { arguments: '{"a"' } }),
      call(1, { function: { arguments: '{"b"' } }),
      { delta: {}, finish_reason: 'tool_calls' },
    ).filter((line) => !line.endsWith(':content') && !line.endsWith(':refusal')),
    ['input 0/0/call_1 run {"a"', 'input 0/1/call_2 look {"b"', 'end 0/0/call_1', 'end 0/1/call_2'],
  )
})

test('chat parts: another id under the same number is another call; an object is its own text', (t) => {
  t.deepEqual(
    read(
      call(0, { id: 'call_1', function: { name: 'one', arguments: '{"a":1}' } }),
      call(0, { id: 'call_2', function: { name: 'two', arguments: { b: 1.5 } } }),
      { delta: { function_call: { name: 'old', arguments: '{}x' } } },
    ).filter((line) => !line.includes('0:')),
    ['input 0/0/call_1 one {"a":1}', 'input 0/0/call_2 two {"b":1.5}', 'end 0/0/call_1', 'input 0/function/ old {}x'],
  )
})

test('chat parts: all parts of a completion, and none of another document', (t) => {
  const choice = (text: string) => ({
    message: { content: text, tool_calls: [{ id: 'c', function: { name: 'run', arguments: '{"x":1.0}' } }] },
  })
  const json = Buffer.from(JSON.stringify({ choices: [choice('ö'), choice('p')] })).toString('latin1')
  t.deepEqual(
    partsOfCompletion(json).map((part) => [part.kind, part.tool, textOf(json, part)]),
    [
      ['text', '', 'ö'],
      ['input', 'run', '{"x":1.0}'],
      ['text', '', 'p'],
      ['input', 'run', '{"x":1.0}'],
    ],
  )
  t.deepEqual(partsOfCompletion('{"choices":{},"error":[]}'), [])
  t.throws(() => partsOfCompletion('[]'))
})

test('chat parts: the text of a custom tool is no JSON, and a part of its own kind', (t) => {
  const custom = (more: object) => call(0, { type: 'custom', ...more })
  t.deepEqual(
    read(custom({ id: 'call_1', custom: { name: 'patch', input: '' } }), custom({ custom: { input: '*** Begin' } }), {
      delta: {},
      finish_reason: 'tool_calls',
    }).filter((line) => !/content|refusal/.test(line)),
    ['free_input 0/0/call_1 patch *** Begin', 'end 0/0/call_1'],
  )
})
