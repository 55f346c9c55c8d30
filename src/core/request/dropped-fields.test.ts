import test from 'ava'
import { Losses } from './dropped-fields.ts'

const MANY = 200_000

test('losses: of any number of fields 24 are named, and the rest is mentioned', (t) => {
  const losses = new Losses()
  for (let i = 0; i < MANY; i++) losses.drop(`field_${i}`)
  t.is(losses.dropped.length, 25)
  t.is(losses.dropped.at(-1), '...')
  for (let i = 0; i < MANY; i++) losses.refuse(`messages[${i}]`, 'no place')
  t.is(losses.refused.length, 24)
  const error = t.throws(() => losses.assertCarried('p'), { message: /no place; and more\.$/ })
  t.true((error?.message ?? '').length < 1000)
})

test('losses: what is beyond is mentioned of what is taken over, too', (t) => {
  const losses = new Losses()
  for (let i = 0; i < MANY; i++) losses.refuse(`messages[${i}]`, 'no place')
  for (let i = 0; i < MANY; i++) losses.drop(`field_${i}`)
  const taken = new Losses()
  taken.add(losses.about(new Set(['messages'])))
  t.deepEqual(taken.dropped, ['...'])
  t.throws(() => taken.assertCarried('p'), { message: /and more/ })
})
