import test from 'ava'
import { RequestDocument } from 'turnpike/plugin'
import { momentsOf } from './moments.ts'

const user = (content: unknown) => ({ role: 'user', content })
const assistant = (content: unknown) => ({ role: 'assistant', content })
const text = (said: string) => ({ type: 'text', text: said })
const result = { type: 'tool_result', tool_use_id: 't', content: 'result' }

function momentsIn(messages: readonly unknown[], { system, scope = 'a' }: { system?: unknown; scope?: string } = {}) {
  return momentsOf(new RequestDocument(Buffer.from(JSON.stringify({ system, messages }))), scope)
}

test('moments: are the messages with text of the user', (t) => {
  const messages = [
    user('one'),
    assistant('x'),
    user([result]),
    assistant('y'),
    user([result, text('two')]),
    user([text('three'), text('four')]),
  ]
  t.deepEqual(
    momentsIn(messages).map(({ index, text: said }) => [index, said]),
    [
      [0, 'one'],
      [4, 'two'],
      [5, 'three\nfour'],
    ],
  )
})

test('moments: text added by a coding agent is not the user’s', (t) => {
  const reminder = '<system-reminder>\nRead the tests\n</system-reminder>'
  const messages = [user([text(reminder), text(`${reminder}fix it`)]), assistant('x'), user([result, text(reminder)])]
  t.deepEqual(
    momentsIn(messages).map(({ text: said }) => said),
    ['fix it'],
  )
})

test('moments: a message with only an image counts', (t) => {
  t.is(momentsIn([user([{ type: 'image', source: { type: 'url', url: 'x' } }])]).length, 1)
})

test('moments: system messages do not affect first and last', (t) => {
  const system = { role: 'system', content: 'x' }
  t.like(momentsIn([system, user('a'), system])[0], { isFirst: true, isLast: true })
  t.like(momentsIn([assistant('x'), user('a'), assistant('y')])[0], { isFirst: false, isLast: false })
})

test('moments: are identified by the content up to them, in any notation', (t) => {
  const keyOf = (...given: Parameters<typeof momentsIn>) => momentsIn(...given).at(-1)?.key
  const key = keyOf([user('a'), assistant('x'), user('b')])
  t.is(keyOf([user([{ ...text('a'), cache_control: { type: 'ephemeral' } }]), assistant('y'), user('b')]), key)
  for (const other of [
    keyOf([user('c'), assistant('x'), user('b')]),
    keyOf([user('a'), assistant('x'), user('c')]),
    keyOf([assistant('x'), user('a'), user('b')]),
    keyOf([user('a'), assistant('x'), user('b')], { system: 'x' }),
    keyOf([user('a'), assistant('x'), user('b')], { scope: 'b' }),
  ])
    t.not(other, key)
})
