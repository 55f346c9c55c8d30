import test from 'ava'
import fc from 'fast-check'
import { openExchange } from '../../../test/support/exchange.ts'
import type { Edit } from '../../core/json/splice.ts'
import type { ChatHabits } from '../../dialects/chat/to-chat-request.ts'
import { nativeChatRequest } from './native.ts'

const HABITS: ChatHabits = {
  maxTokensField: 'max_completion_tokens',
  systemRole: 'system',
  reasoningField: undefined,
  reasoningEffort: true,
  fixedSampling: undefined,
  mostStopSequences: 4,
  streamUsage: true,
}
const MESSAGES = '"messages":[{"role":"user","content":"h\\u00e9y"}]'

/** Returns the bytes sent for a body after these edits of a plugin. */
function sentFor(body: string, { edits = [], habits = HABITS }: { edits?: readonly Edit[]; habits?: ChatHabits } = {}) {
  const exchange = openExchange({ body })
  if (edits.length > 0) exchange.edit(...edits)
  const { bytes, droppedFields, asksUsage } = nativeChatRequest(
    exchange,
    { provider: 'openai', model: 'gpt-4o' },
    habits,
  )
  return { text: bytes.toString(), isSame: bytes === exchange.original, dropped: droppedFields?.dropped, asksUsage }
}

test('native request: an unchanged body is sent without a copy', (t) => {
  const body = `{"model":"gpt-4o",${MESSAGES},"novel":[1.0]}`
  t.deepEqual(sentFor(body), { text: body, isSame: true, dropped: undefined, asksUsage: false })
})

test('native request: only the model’s name is replaced, whatever the rest of the body', (t) => {
  const value = fc.jsonValue().map((json) => JSON.stringify(json))
  const name = fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(`x${text}`))
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value)), fc.constantFrom('', ' ', '\n\t'), (extra, space) => {
      const unique = [...new Map(extra.map(([key, json]) => [JSON.parse(key), [key, json]])).values()]
      const members = unique.map(([key, json]) => `${space}${key}${space}:${space}${json},`).join('')
      const body = (model: string) => `{${members}"model":${space}"${model}",${MESSAGES}${space}}`
      t.is(sentFor(body('openai/gpt-4o')).text, body('gpt-4o'))
    }),
  )
})

test('native request: usage of a stream is requested only where the provider supports the option', (t) => {
  const body = `{"model":"gpt-4o",${MESSAGES},"stream":true}`
  t.true(sentFor(body).asksUsage)
  const refused = sentFor(body, { habits: { ...HABITS, streamUsage: false } })
  t.deepEqual(refused, { text: body, isSame: true, dropped: undefined, asksUsage: false })
})

for (const given of ['"include_usage":true', '"x":1,"include_usage":true']) {
  test(`native request: usage that the client requests itself is not requested again: ${given}`, (t) => {
    const body = `{"model":"gpt-4o",${MESSAGES},"stream":true,"stream_options":{${given}}}`
    t.deepEqual(sentFor(body), { text: body, isSame: true, dropped: undefined, asksUsage: false })
  })
}

const edited: [claim: string, members: string, edit: Edit, expected: string][] = [
  ['a new field', '"n":1.0', { op: 'add', path: ['temperature'], value: 0.5 }, '"n":1.0,"temperature":0.5'],
  [
    'a field under its alternative name',
    '"stop":"x"',
    { op: 'replace', path: ['stop_sequences', 0], value: 'y' },
    '"stop":["y"]',
  ],
  ['a removed field', '"stop":"x","n":1.0', { op: 'remove', path: ['stop_sequences'] }, '"n":1.0'],
  ['the user', '"user":"a"', { op: 'replace', path: ['metadata', 'user_id'], value: 'b' }, '"user":"b"'],
]
for (const [claim, members, edit, expected] of edited) {
  test(`native request: a plugin’s edit reaches the client’s own field: ${claim}`, (t) => {
    const { text } = sentFor(`{"model":"gpt-4o",${MESSAGES},${members}}`, { edits: [edit] })
    t.is(text, `{"model":"gpt-4o",${MESSAGES},${expected}}`)
  })
}

test('native request: rewritten messages keep the arguments of their calls as text', (t) => {
  const args = '{\\"10\\": 1.0, \\"2\\": 9007199254740993}'
  const call = `{"id":"call_1","type":"function","function":{"name":"f","arguments":"${args}"}}`
  const messages = `{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[${call}]},{"role":"tool","tool_call_id":"call_1","content":"ok"}`
  const edits: Edit[] = [{ op: 'add', path: ['system'], value: 'Be brief.' }]
  const { text } = sentFor(`{"model":"gpt-4o","messages":[${messages}],"seed":9007199254740993}`, { edits })
  t.true(text.includes(`"arguments":"${args}"`), text)
  t.true(text.endsWith(',"seed":9007199254740993}'), text)
  t.like(JSON.parse(text).messages[0], { role: 'system', content: 'Be brief.' })
})

test('native request: fields that rewritten messages drop are reported; the rest of the body is kept', (t) => {
  const edits: Edit[] = [{ op: 'add', path: ['system'], value: 'Be brief.' }]
  const body = '{"model":"gpt-4o","messages":[{"role":"user","content":"hi","novel":1}],"seed":7,"logprobs":true}'
  const { text, dropped } = sentFor(body, { edits })
  t.deepEqual(dropped, ['messages.novel'])
  t.like(JSON.parse(text), { seed: 7, logprobs: true })
})

test('native request: messages that cannot be rewritten are refused', (t) => {
  const audio = '{"type":"input_audio","input_audio":{"data":"AA","format":"wav"}}'
  const body = `{"model":"gpt-4o","messages":[{"role":"user","content":[${audio}]}]}`
  const error = t.throws(() => sentFor(body, { edits: [{ op: 'add', path: ['system'], value: 'x' }] }), {
    code: 'invalid_request',
  })
  t.regex(error.message, /messages\[0\]\.content\[0\]: /)
  t.notThrows(() => sentFor(body, { edits: [{ op: 'add', path: ['temperature'], value: 0.5 }] }))
})

test('native request: an edit is not refused for a field that it does not touch', (t) => {
  const body = `{"model":"gpt-4o",${MESSAGES},"stop":["1","2","3","4","5"]}`
  const { text } = sentFor(body, { edits: [{ op: 'add', path: ['temperature'], value: 0.5 }] })
  t.is(text, body.replace(/}$/, ',"temperature":0.5}'))
})

test('native request: an unchanged field is not reported as dropped', (t) => {
  const body = `{"model":"gpt-4o",${MESSAGES},"top_k":5}`
  const { text, dropped } = sentFor(body, { edits: [{ op: 'add', path: ['temperature'], value: 0.5 }] })
  t.true(text.includes('"top_k":5'))
  t.deepEqual(dropped, [])
})

test('native request: the model is the target’s, whatever a plugin edits', (t) => {
  const edits: Edit[] = [{ op: 'replace', path: ['model'], value: 'other' }]
  t.is(sentFor(`{"model":"openai/gpt-4o",${MESSAGES}}`, { edits }).text, `{"model":"gpt-4o",${MESSAGES}}`)
})

test('native request: a reasoning model behind a prefix gets its limit under the newer name', (t) => {
  const habits = { ...HABITS, maxTokensField: 'max_completion_tokens', fixedSampling: /^gpt-4o/ } as const
  const limited = `{"model":"openai/gpt-4o","max_tokens":5,${MESSAGES}}`
  t.is(sentFor(limited, { habits }).text, `{"model":"gpt-4o",${MESSAGES},"max_completion_tokens":5}`)
  t.is(sentFor(limited).text, limited.replace('openai/', ''))
  const plain = `{"model":"gpt-4o","max_tokens":5,${MESSAGES}}`
  t.is(sentFor(plain, { habits }).text, plain)
})
