import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import test from 'ava'
import { TransientMap } from './transient-map.ts'

setFlagsFromString('--expose-gc')
// Safe: the flag defines it.
const collect = runInNewContext('gc') as (options: { type: 'minor' | 'major' }) => void

function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? 0
}

test('transient map: values come in the order in which they were added', (t) => {
  const map = new TransientMap<string>()
  for (const key of ['b', 'a', '__proto__', 'constructor']) map.set(key, key)
  map.delete('a')
  map.delete('never there')
  map.set('a', 'again')
  t.deepEqual(map.values(), ['b', '__proto__', 'constructor', 'again'])
  t.is(map.get('__proto__'), '__proto__')
  t.is(map.get('toString'), undefined)
})

test('transient map: what has left it is collected with the young objects', (t) => {
  const map = new TransientMap<number[]>()
  const most = 16
  collect({ type: 'major' })
  const before = oldBytes()
  for (let id = 0; id < 20_000; id++) {
    map.set(
      `request ${id}`,
      Array.from({ length: 200 }, (_, index) => index + 0.5),
    )
    map.delete(`request ${id - most}`)
    if (id % 500 === 0) collect({ type: 'minor' })
  }
  // A `Map` retains those that it had whenever its table was replaced: 3.6 to 33 MB.
  t.true(oldBytes() - before < 2_000_000, `${oldBytes() - before} bytes`)
  t.is(map.values().length, most)
})
