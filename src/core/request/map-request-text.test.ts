import test from 'ava'
import { openExchange } from '../../../test/support/exchange.ts'

const BODY = JSON.stringify({
  model: 'm',
  max_tokens: 9,
  unknown: { 'Odd Name': [1e9, 'x'], usual: 7 },
  messages: [{ role: 'user', content: 'secret 1.0' }],
})
const open = () => openExchange({ body: BODY, dialect: 'messages' })

test('request texts: every string, long number and unusual name is passed, in fields of any name', (t) => {
  const seen: string[] = []
  open().mapRequestText((text, { path, kind }) => {
    seen.push(`${kind} ${path.join('.')} ${text}`)
    return text
  })
  t.deepEqual(seen, [
    'string model m',
    'name unknown.Odd Name Odd Name',
    'number unknown.Odd Name.0 1000000000',
    'string unknown.Odd Name.1 x',
    'string messages.0.role user',
    'string messages.0.content secret 1.0',
  ])
})

test('request texts: changed ones are spliced in, the rest and the original stay', (t) => {
  const exchange = open()
  exchange.mapRequestText((text) => text.replace('secret', 'S').replace('Odd', 'Even'))
  const sent = exchange.request.bytes.toString()
  t.is(sent, BODY.replace('secret', 'S').replace('Odd', 'Even'))
  t.is(exchange.client.document.bytes.toString(), sent)
  t.is(exchange.original.toString(), BODY)
  t.false(exchange.isEdited)
})

test('request texts: edits of earlier plugins keep their effect and are passed too', (t) => {
  const exchange = open()
  exchange.edit({ op: 'add', path: ['system'], value: 'secret of a plugin' })
  exchange.mapRequestText((text) => text.replace('secret', 'S'))
  t.is(exchange.request.field('system'), 'S of a plugin')
  t.false(exchange.request.bytes.includes('secret'))
  t.false(exchange.client.document.bytes.includes('secret'))
})

test('request texts: an error changes nothing', (t) => {
  const exchange = open()
  t.throws(() =>
    exchange.mapRequestText((text) => {
      if (text === 'user') throw new Error('no')
      return `${text}!`
    }),
  )
  t.is(exchange.request.bytes.toString(), BODY)
})
