import test from 'ava'
import { type BlockMark, ProviderCache } from './provider-cache.ts'

const MINUTE = 60_000
/** Blocks of 1,000 tokens, one a letter; their prefixes are the text so far. */
const blocks = (text: string) => Array.from(text, (_, index) => ({ prefix: text.slice(0, index + 1), tokens: 1000 }))
const at = (block: number, lifetime: BlockMark['lifetime'] = '5m') => ({ block, lifetime })
const create = (more: object = {}) => new ProviderCache({ leastTokens: 1024, replyMs: 0, ...more })

test('provider cache: without marks all is plain input', (t) => {
  t.deepEqual(create().call(blocks('abc'), [], 0), { fresh: 3000, read: 0, written5m: 0, written1h: 0 })
})

test('provider cache: a mark writes what is before it, and reads it within its lifetime, which begins again', (t) => {
  const cache = create()
  t.like(cache.call(blocks('abc'), [at(1)], 0), { fresh: 1000, written5m: 2000 })
  t.like(cache.call(blocks('abd'), [at(1)], 5 * MINUTE), { fresh: 1000, read: 2000, written5m: 0 })
  t.like(cache.call(blocks('abd'), [at(1)], 10 * MINUTE), { read: 2000 })
  t.like(cache.call(blocks('abd'), [at(1)], 15 * MINUTE + 1), { read: 0, written5m: 2000 })
})

test('provider cache: an entry is found up to 19 blocks before a mark', (t) => {
  const cache = create()
  const text = 'abcdefghijklmnopqrstuvwxyz'
  cache.call(blocks(text), [at(3)], 0)
  t.like(cache.call(blocks(text), [at(22)], 1), { read: 4000, written5m: 19_000 })
  const other = create()
  other.call(blocks(text), [at(3)], 0)
  t.like(other.call(blocks(text), [at(23)], 1), { read: 0, written5m: 24_000 })
})

test('provider cache: marks of an hour are billed up to the last of them, the rest for five minutes', (t) => {
  const cache = create()
  t.like(cache.call(blocks('abcd'), [at(1, '1h'), at(2)], 0), { written1h: 2000, written5m: 1000, fresh: 1000 })
  t.like(cache.call(blocks('abcd'), [at(1), at(2)], 30 * MINUTE), { read: 2000, written5m: 1000 })
})

test('provider cache: a prefix under the least length is not written', (t) => {
  const cache = create()
  t.like(cache.call(blocks('ab'), [at(0)], 0), { fresh: 2000, written5m: 0 })
  t.like(cache.call(blocks('ab'), [at(0)], 1), { read: 0 })
})

test('provider cache: an entry can be read once its reply has begun', (t) => {
  const cache = create({ replyMs: 3000 })
  cache.call(blocks('ab'), [at(1)], 0)
  t.like(cache.call(blocks('ab'), [at(1)], 2999), { read: 0, written5m: 2000 })
  t.like(cache.call(blocks('ab'), [at(1)], 5999), { read: 2000 })
})

test('provider cache: chained, an entry lives no longer than the one that it extends', (t) => {
  for (const [isChained, read] of [
    [false, 3000],
    [true, 0],
  ] as const) {
    const cache = create({ isChained })
    cache.call(blocks('ab'), [at(1)], 0)
    cache.call(blocks('abc'), [at(2, '1h')], MINUTE)
    t.is(cache.call(blocks('abc'), [at(2)], 30 * MINUTE).read, read)
  }
})

test('provider cache: five marks, marks out of order and an hour behind five minutes are refused', (t) => {
  const call = (marks: BlockMark[]) => () => create().call(blocks('abcdef'), marks, 0)
  t.throws(call([0, 1, 2, 3, 4].map((block) => at(block))), { message: /at most 4 marks, got 5/ })
  t.throws(call([at(2), at(1)]), { message: /in the order/ })
  t.throws(call([at(1), at(2, '1h')]), { message: /of an hour before/ })
})
