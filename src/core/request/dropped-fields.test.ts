import test from 'ava'
import { DroppedFields } from './dropped-fields.ts'

const MANY = 200_000

test('dropped fields: 24 fields at most are named, and the rest is mentioned', (t) => {
  const droppedFields = new DroppedFields()
  for (let i = 0; i < MANY; i++) droppedFields.drop(`field_${i}`)
  t.is(droppedFields.dropped.length, 25)
  t.is(droppedFields.dropped.at(-1), '...')
  for (let i = 0; i < MANY; i++) droppedFields.refuse(`messages[${i}]`, 'no place')
  t.is(droppedFields.refused.length, 24)
  const error = t.throws(() => droppedFields.assertCarried('p'), { message: /no place; and more\.$/ })
  t.true((error?.message ?? '').length < 1000)
})

test('dropped fields: a merge mentions unnamed fields, too', (t) => {
  const droppedFields = new DroppedFields()
  for (let i = 0; i < MANY; i++) droppedFields.refuse(`messages[${i}]`, 'no place')
  for (let i = 0; i < MANY; i++) droppedFields.drop(`field_${i}`)
  const taken = new DroppedFields()
  taken.add(droppedFields.about(new Set(['messages'])))
  t.deepEqual(taken.dropped, ['...'])
  t.throws(() => taken.assertCarried('p'), { message: /and more/ })
})
