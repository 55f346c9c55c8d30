import test from 'ava'
import { createMemoryCaptures } from './memory-captures.ts'

const body = (size: number) => ({ bytes: Buffer.alloc(size), totalBytes: size })
const captured = (id: string, size: number) => ({
  ...{ id, scope: 'local', request: body(size), canonical: undefined, versions: [], reply: body(0) },
})

test('captures: one that exceeds the memory alone evicts no others, and is not kept', async (t) => {
  const captures = createMemoryCaptures({ most: 10, maxBytes: 10_000 })
  captures.put(captured('a', 2000))
  captures.put(captured('too large', 9000))
  captures.put(captured('b', 2000))
  const found = async (id: string) => (await captures.get(id)) !== undefined
  t.deepEqual(await Promise.all(['a', 'too large', 'b'].map(found)), [true, false, true])
  captures.put(captured('c', 7000))
  t.deepEqual(await Promise.all(['a', 'b', 'c'].map(found)), [false, false, true], 'the oldest leave first')
})
