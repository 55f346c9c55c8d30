import test from 'ava'
import fc from 'fast-check'
import { KeyRing } from './key-ring.ts'

/** A ring with a manual clock. */
function ringOf(weights: Readonly<Record<string, number>>) {
  const clock = { nowMs: 1000 }
  const keys = Object.entries(weights).map(([api_key, weight]) => ({ api_key, weight }))
  const ring = new KeyRing(keys, () => clock.nowMs)
  const order = (conversation: string) => ring.order(() => conversation).map(({ secret }) => secret)
  const coolDown = (secret: string, ms: number) => {
    const key = ring.order(() => '').find((one) => one.secret === secret)
    if (key !== undefined) ring.coolDown(key, ms)
  }
  return { ring, clock, order, coolDown }
}

const CONVERSATIONS = Array.from({ length: 5000 }, (_, n) => `local:caller [{"role":"user","content":"${n}"}]`)
const WEIGHTS = { a: 5, b: 3, c: 2 }

/** Counts how many of a hundred conversations try each key at this place of their order. */
function shares(conversations: readonly string[], order: (conversation: string) => string[], place = 0) {
  const counts: Record<string, number> = {}
  for (const conversation of conversations) {
    const key = order(conversation)[place] ?? ''
    counts[key] = (counts[key] ?? 0) + 100 / conversations.length
  }
  return counts
}

const isNear = (share: number | undefined, expected: number) => Math.abs((share ?? 0) - expected) < 5

test('key ring: conversations spread by weight', (t) => {
  const { a, b, c } = shares(CONVERSATIONS, ringOf(WEIGHTS).order)
  t.true(isNear(a, 50) && isNear(b, 30) && isNear(c, 20), JSON.stringify({ a, b, c }))
})

test('key ring: without its key a conversation uses its own second, by weight of the others', (t) => {
  const { order } = ringOf(WEIGHTS)
  const ofA = CONVERSATIONS.filter((conversation) => order(conversation)[0] === 'a')
  const { b, c } = shares(ofA, order, 1)
  t.true(isNear(b, 60) && isNear(c, 40), JSON.stringify({ b, c }))
})

test('key ring: the order of a conversation is the same in every ring', (t) => {
  const [one, other] = [ringOf(WEIGHTS), ringOf({ c: 2, b: 3, a: 5 })]
  for (const conversation of CONVERSATIONS.slice(0, 200))
    t.deepEqual(one.order(conversation), other.order(conversation))
})

test('key ring: a key in cool-down moves only its own conversations', (t) => {
  const { order, coolDown } = ringOf(WEIGHTS)
  const sample = CONVERSATIONS.slice(0, 300)
  const before = sample.map(order)
  coolDown('a', 1000)
  for (const [index, conversation] of sample.entries()) {
    const expected = before[index]?.filter((key) => key !== 'a') ?? []
    t.deepEqual(order(conversation), [...expected, 'a'])
  }
})

test('key ring: a cool-down ends at its time', (t) => {
  const { order, coolDown, clock } = ringOf({ a: 1000, b: 1 })
  t.is(order('x')[0], 'a')
  coolDown('a', 500)
  clock.nowMs += 499
  t.is(order('x')[0], 'b')
  clock.nowMs += 1
  t.is(order('x')[0], 'a')
})

test('key ring: a shorter cool-down does not end a longer one', (t) => {
  const { order, coolDown, clock } = ringOf({ a: 1000, b: 1 })
  coolDown('a', 500)
  coolDown('a', 100)
  clock.nowMs += 200
  t.is(order('x')[0], 'b')
})

test('key ring: when all keys cool down, the one that ends first is tried first', (t) => {
  const { order, coolDown } = ringOf({ a: 1000, b: 1, c: 1 })
  coolDown('a', 300)
  coolDown('b', 100)
  coolDown('c', 200)
  t.deepEqual(order('x'), ['b', 'c', 'a'])
})

test('key ring: with one key the conversation is not computed', (t) => {
  const { ring } = ringOf({ only: 7 })
  const order = ring.order(() => t.fail() as never)
  t.deepEqual(
    order.map(({ secret }) => secret),
    ['only'],
  )
})

test('key ring: without keys the order is empty, and so is its size', (t) => {
  const { ring } = ringOf({})
  t.deepEqual([ring.size, ring.order(() => 'x')], [0, []])
})

test('key ring: every order has every key once, whatever the weights, conversations and cool-downs', (t) => {
  const weights = fc.dictionary(fc.string({ minLength: 1 }), fc.integer({ min: 1, max: 1000 }), { maxKeys: 8 })
  const coolDowns = fc.array(fc.tuple(fc.nat(7), fc.nat(10_000)))
  fc.assert(
    fc.property(weights, fc.string(), coolDowns, (given, conversation, tired) => {
      const { order, coolDown } = ringOf(given)
      const names = Object.keys(given)
      for (const [index, ms] of tired) coolDown(names[index] ?? '', ms)
      t.deepEqual(order(conversation).sort(), names.sort())
    }),
  )
})
