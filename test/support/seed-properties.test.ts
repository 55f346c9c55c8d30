import test from 'ava'
import fc from 'fast-check'
import { isDrill } from './drill.ts'

test('properties: all have one seed, except in drills', (t) => {
  t.is(typeof fc.readConfigureGlobal()?.seed, isDrill ? 'undefined' : 'number')
})
