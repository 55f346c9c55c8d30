import test from 'ava'
import { storedSample } from '../../../test/support/receipts.ts'
import { findWaiting } from './receipts.ts'

test('receipts: a receipt that waits to be stored is found, within its scope only', (t) => {
  const waiting = ['r1', 'r2'].map((id) => storedSample(id))
  t.like(findWaiting(waiting, { scope: 'mine', id: 'r2' }), { id: 'r2', signature: { alg: 'Ed25519' } })
  t.is(findWaiting(waiting, { scope: 'yours', id: 'r2' }), undefined)
  t.is(findWaiting(waiting, { scope: 'mine', id: 'r3' }), undefined)
})
