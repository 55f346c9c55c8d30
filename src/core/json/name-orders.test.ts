import test from 'ava'
import { NameOrders } from './name-orders.ts'

const open = () => new NameOrders((name) => `${name}:`)
function isKept(orders: NameOrders, names: readonly string[]): boolean {
  const first = orders.of([...names])
  return orders.of([...names]) === first
}

test('name orders: the names of one kind of object are sorted once', (t) => {
  const orders = open()
  t.like(orders.of(['b', 'a']), { sorted: ['a', 'b'], labels: ['a:', 'b:'] })
  t.true(isKept(orders, ['b', 'a']))
  t.like(orders.of(['a', 'b']), { names: ['a', 'b'] })
})

test('name orders: long names, and many, are not kept', (t) => {
  t.true(isKept(open(), ['a'.repeat(256)]))
  t.false(isKept(open(), ['a'.repeat(256), 'b']))
  t.false(
    isKept(
      open(),
      Array.from({ length: 65 }, (_, i) => `${i}`),
    ),
  )
})

test('name orders: a bounded count is kept', (t) => {
  const orders = open()
  let kept = 0
  for (let length = 1; length <= 40; length++)
    for (let kind = 0; kind < 20; kind++)
      if (
        isKept(
          orders,
          Array.from({ length }, (_, i) => `${kind}_${i}`),
        )
      )
        kept++
  t.is(kept, 64)
})
