import test from 'ava'
import { openExchange } from '../../../test/support/exchange.ts'
import { joined, preservedRanges } from './preserved.ts'

const body = JSON.stringify({
  model: 'm',
  max_tokens: 9,
  messages: [{ role: 'user', content: 'keep this, drop that' }],
})
const path = ['messages', 0, 'content']

test('preservedRanges: a parent of the string covers it, a sibling does not', (t) => {
  const reason = 'test'
  const at = { path, length: 20 }
  t.deepEqual(preservedRanges([{ path: ['messages', 0], reason }], at), [{ start: 0, end: 20 }])
  t.deepEqual(preservedRanges([{ path: ['messages', 1], reason }], at), [])
  t.deepEqual(preservedRanges([{ path: [...path, 0], reason }], at), [])
  t.deepEqual(preservedRanges([{ path, start: 5, end: 99, reason }], at), [{ start: 5, end: 20 }])
})

test('joined: parts are in order, and those that touch are one', (t) => {
  t.deepEqual(
    joined([
      { start: 8, end: 9 },
      { start: 2, end: 4 },
      { start: 0, end: 2 },
    ]),
    [
      { start: 0, end: 4 },
      { start: 8, end: 9 },
    ],
  )
})

test('exchange: a watcher that throws keeps an edit from taking effect', (t) => {
  const exchange = openExchange({ body, dialect: 'messages' })
  exchange.watchEdits((after, module) => {
    if (!after.bytes.includes('keep this')) throw new Error(`${module} did not keep it`)
  })
  exchange.edit({ op: 'replace', path, value: 'keep this' })
  t.throws(() => exchange.edit({ op: 'replace', path, value: 'gone' }), { message: 'gateway did not keep it' })
  t.is(exchange.request.messages[0]?.content, 'keep this')
})

test('exchange: the declarations of a bypassed plugin are undone', (t) => {
  const exchange = openExchange({ body, dialect: 'messages' })
  const undo = exchange.save()
  exchange.preserve([{ path, reason: 'test' }])
  t.is(exchange.preserved.length, 1)
  undo()
  t.deepEqual(exchange.preserved, [])
})
