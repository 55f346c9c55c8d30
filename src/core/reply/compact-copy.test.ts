import test from 'ava'
import { memoryStore } from '../../stores/kv/memory.ts'
import { compactCopy } from './compact-copy.ts'

test('a view is copied, a buffer with memory of its own is not', (t) => {
  const page = Buffer.allocUnsafeSlow(1000).fill('a')
  t.is(compactCopy(page), page)
  for (const view of [page.subarray(10, 20), Buffer.from('small'), Buffer.concat([page, page]).subarray(1)]) {
    const own = compactCopy(view)
    t.deepEqual(own, view)
    t.is(own.buffer.byteLength, view.length)
  }
})

test('the memory store keeps no more alive than it counts', async (t) => {
  const store = memoryStore(1_000_000)
  for (let nth = 0; nth < 100; nth++) await store.set(`key ${nth}`, Buffer.from(`value ${nth}`), 60_000)
  const kept = await Promise.all(Array.from({ length: 100 }, (_, nth) => store.get(`key ${nth}`)))
  t.deepEqual(
    kept.map((value) => value?.buffer.byteLength),
    kept.map((_, nth) => `value ${nth}`.length),
  )
})
