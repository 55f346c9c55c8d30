import test from 'ava'
import fc from 'fast-check'
import { diffLines, diffTexts } from '../../dashboard/src/diff.ts'
import { count, duration, moment, percent, size, span, usd, visible } from '../../dashboard/src/format.ts'
import { errorIn, newParts, replyParts } from '../../dashboard/src/message-text.ts'
import { fromSteps, moved, toSteps } from '../../dashboard/src/pipeline-text.ts'
import { readable } from '../../dashboard/src/readable.ts'
import { parseRoute } from '../../dashboard/src/route.ts'

const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 14, size: 'max' })

test('diff: without what was put in it is the old text, without what was taken out the new one', (t) => {
  const seen = { same: 0, changed: 0 }
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const found = diffLines(before, after)
      const without = (kind: string) => found.filter((line) => line.kind !== kind).map(({ text }) => text)
      t.deepEqual(without('more'), before)
      t.deepEqual(without('less'), after)
      seen[found.every(({ kind }) => kind === 'same') ? 'same' : 'changed']++
    }),
    { numRuns: 300 },
  )
  t.true(seen.changed > 100 && seen.same > 0, JSON.stringify(seen))
})

test('diff: a long stretch without change is a line that counts it', (t) => {
  const long = Array.from({ length: 50 }, (_, index) => `line ${index}`)
  const found = diffTexts(long.join('\n'), [...long, 'new'].join('\n'))
  t.deepEqual(found[0], { kind: 'gap', text: '47 unchanged lines' })
  t.deepEqual(found.at(-1), { kind: 'more', text: 'new' })
})

test('readable: a text of several lines is shown in lines, and JSON loses nothing else', (t) => {
  t.is(
    readable('{"a":"x\\ny","b":[1,{}],"c":[]}'),
    '{\n  "a": \n    │ x\n    │ y,\n  "b": [\n    1,\n    {}\n  ],\n  "c": []\n}',
  )
  t.is(readable('no JSON'), 'no JSON')
})

test('format: control characters and turned text can be seen', (t) => {
  t.is(visible('a\0b\u001b[31m\u202ec\u007f\n\t'), 'a␀b␛[31m⟨U+202E⟩c␡\n\t')
})

test('format: a moment has its day unless that is today', (t) => {
  const at = (day: number, hour: number, minute = 0) => new Date(2026, 10, day, hour, minute).getTime()
  const now = at(23, 1)
  t.is(moment(at(23, 0, 30), now), '00:30:00')
  t.is(moment(at(22, 23), now), '22 Nov 23:00:00')
  t.is(moment(at(16, 1), now), '16 Nov 01:00:00')
  t.is(moment(new Date(2026, 9, 23, 1).getTime(), now), '23 Oct 01:00:00')
})

test('format: figures have as many digits as tell something', (t) => {
  t.deepEqual([0, 1234, 96_000, 5e6, 123e6, 2.5e9, 12_345e9, -5e6, null].map(usd), [
    '$0',
    '$0.000001',
    '$0.000096',
    '$0.0050',
    '$0.12',
    '$2.50',
    '$12,345',
    '−$0.0050',
    '–',
  ])
  t.deepEqual([0, 0.04, 1.26, 34.4, 1500, 65_000].map(duration), [
    '0 ms',
    '0.04 ms',
    '1.3 ms',
    '34 ms',
    '1.50 s',
    '65.0 s',
  ])
  t.deepEqual([400, 45_000, 900_000, 7_500_000, 86_400_000 + 30_000].map(span), [
    '0 s',
    '45 s',
    '15 min',
    '2 h 5 min',
    '1 d',
  ])
  t.deepEqual([0, 99_999, 1_500_000].map(count), ['0', '99,999', '1.5M'])
  t.deepEqual([0, 0.031, 0.5].map(percent), ['0 %', '3.1 %', '50 %'])
  t.deepEqual([12, 2048, 3 * 1024 ** 2].map(size), ['12 B', '2.0 KB', '3.0 MB'])
})

test('pipeline text: steps go there and back, and one that is moved is still there once', (t) => {
  t.deepEqual(toSteps(' a , b?x=1,,c '), ['a', 'b?x=1', 'c'])
  t.deepEqual(toSteps('none'), [])
  t.is(fromSteps([]), 'none')
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.stringMatching(/^[a-z]{1,6}$/), { minLength: 1 }),
      fc.nat(9),
      fc.nat(9),
      (steps, from, to) => {
        const next = moved(steps, from % steps.length, to)
        t.deepEqual(next.toSorted(), steps.toSorted())
        t.is(next[Math.min(to, steps.length - 1)], steps[from % steps.length])
        if (!steps.includes('none')) t.deepEqual(toSteps(fromSteps(next)), next)
      },
    ),
  )
})

test('route: a hash has a page, an id and a query', (t) => {
  const { page, id, query } = parseRoute('#/request/rcpt_1%20x?text=a%26b')
  t.deepEqual([page, id, query.get('text')], ['request', 'rcpt_1 x', 'a&b'])
  t.is(parseRoute('').page, '')
  t.is(parseRoute('#/request/%').id, '%')
})

const json = (value: unknown) => JSON.stringify(value)
const events = (...values: readonly unknown[]) => values.map((value) => `data: ${json(value)}\n\n`).join('')

test('message text: what is new in a request is what follows the last part of the model, in every dialect', (t) => {
  const old = { role: 'user', content: 'old' }
  t.deepEqual(newParts(json({ messages: [old] })), [{ title: 'user', text: 'old' }])
  const result = { type: 'tool_result', tool_use_id: 'x', content: [{ type: 'text', text: 'files' }] }
  const messages = [
    old,
    { role: 'assistant', content: 'hm' },
    { role: 'user', content: [result, { type: 'text', text: 'on' }] },
  ]
  t.deepEqual(newParts(json({ messages })), [
    { title: 'tool result', text: 'files' },
    { title: 'user', text: 'on' },
  ])
  const chat = [old, { role: 'assistant', tool_calls: [] }, { role: 'tool', content: 'files' }]
  t.deepEqual(newParts(json({ messages: chat })), [{ title: 'tool result', text: 'files' }])
  t.deepEqual(newParts(json({ input: 'hello' })), [{ title: 'user', text: 'hello' }])
  const input = [old, { type: 'function_call', name: 'ls' }, { type: 'function_call_output', output: 'files' }]
  t.deepEqual(newParts(json({ input })), [{ title: 'tool result', text: 'files' }])
  t.is(newParts('{"messages": [{"role"'), undefined)
})

test('message text: a reply is its texts and calls, in JSON and as events, in every dialect', (t) => {
  const whole = [
    { title: 'assistant', text: 'I look.' },
    { title: 'call of ls', text: '{\n  "a": 1\n}' },
  ]
  const call = { name: 'ls', arguments: '{"a":1}' }
  const item = [
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] },
    { type: 'function_call', ...call },
  ]
  const replies = {
    messages: json({
      content: [
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', name: 'ls', input: { a: 1 } },
      ],
    }),
    chat: json({
      choices: [
        { message: { role: 'assistant', content: 'I look.', tool_calls: [{ type: 'function', function: call }] } },
      ],
    }),
    responses: json({ output: item }),
    'messages as events': events(
      { type: 'message_start', message: {} },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'I ' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'look.' } },
      { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', name: 'ls', input: {} } },
      { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"a"' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: ':1}' } },
    ),
    'chat as events': events(
      { choices: [{ index: 0, delta: { role: 'assistant', content: 'I ' } }] },
      { choices: [{ index: 0, delta: { content: 'look.' } }] },
      { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { name: 'ls', arguments: '{"a"' } }] } }] },
      { choices: [{ index: 0, delta: { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] } }] },
    ),
    'responses as events': events(
      { type: 'response.output_item.done', output_index: 0, item: item[0] },
      { type: 'response.output_item.done', output_index: 1, item: item[1] },
    ),
  }
  const cut = events(
    { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'I ' },
    { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'look.' },
    { type: 'response.output_item.added', output_index: 1, item: { type: 'function_call', name: 'ls' } },
    { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{"a":' },
    { type: 'response.function_call_arguments.delta', output_index: 1, delta: '1}' },
  )
  const all = { ...replies, 'responses as events, cut': cut, both: `${cut}${replies['responses as events']}` }
  for (const [name, reply] of Object.entries(all)) t.deepEqual(replyParts(reply), whole, name)
  t.is(replyParts('<html>'), undefined)
})

test('message text: the error of a reply is its message, in JSON and as an event, in every dialect', (t) => {
  const error = { type: 'api_error', message: 'the provider is away' }
  const replies = {
    messages: json({ type: 'error', error }),
    'chat and responses': json({ error: { ...error, code: null } }),
    'messages as events': events({ type: 'message_start', message: {} }, { type: 'error', error }),
    'responses as events': events({ type: 'response.failed', response: { error } }),
  }
  for (const [name, reply] of Object.entries(replies)) t.is(errorIn(reply), error.message, name)
  t.is(errorIn(json({ output: [], error: null })), undefined)
  t.is(errorIn(events({ type: 'message_stop' })), undefined)
})
