import test from 'ava'
import fc from 'fast-check'
import { toToolId } from './tool-id.ts'

test('tool id: a valid one stays unchanged', (t) => {
  for (const id of ['call_1', 'toolu_01A-b', 'x']) t.is(toToolId(id), id)
})

test('tool id: any id becomes a valid one, deterministically', (t) => {
  fc.assert(
    fc.property(fc.string({ minLength: 0, maxLength: 60 }), (id) => {
      t.regex(toToolId(id), /^[a-zA-Z0-9_-]+$/)
      t.is(toToolId(id), toToolId(id))
    }),
  )
})

test('tool id: ids that differ only in the replaced characters stay distinct', (t) => {
  t.not(toToolId('functions.search:0'), toToolId('functions:search.0'))
})
