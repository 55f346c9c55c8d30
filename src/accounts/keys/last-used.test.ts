import test, { type ExecutionContext } from 'ava'
import type { KeyUses } from '../../core/ports/keys.ts'
import { LastUsed } from './last-used.ts'

const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log }

function open(t: ExecutionContext, touch: (uses: KeyUses) => Promise<void> = async () => {}) {
  const clock = { at: 1000, nowMs: () => clock.at }
  const batches: KeyUses[] = []
  const store = {
    touch: async (uses: KeyUses) => {
      await touch(uses)
      batches.push(uses)
    },
  }
  const lastUsed = new LastUsed({ store, clock, log })
  t.teardown(() => lastUsed.close())
  return { clock, batches, lastUsed }
}

test('last used: several uses of a key are written once, with the latest time', async (t) => {
  const { clock, batches, lastUsed } = open(t)
  lastUsed.note('a')
  clock.at = 2000
  lastUsed.note('a')
  lastUsed.note('b')
  await lastUsed.flush()
  await lastUsed.flush()
  t.deepEqual(batches, [
    [
      ['a', 2000],
      ['b', 2000],
    ],
  ])
})

test('last used: the later of the stored and the waiting time is returned', (t) => {
  const { lastUsed } = open(t)
  lastUsed.note('a')
  t.is(lastUsed.latest('a', null), 1000)
  t.is(lastUsed.latest('a', 500), 1000)
  t.is(lastUsed.latest('a', 3000), 3000)
  t.is(lastUsed.latest('b', null), null)
})

test('last used: a use during the write of an earlier one is written next', async (t) => {
  const { clock, batches, lastUsed } = open(t, async () => {
    if (clock.at !== 1000) return
    clock.at = 2000
    lastUsed.note('a')
  })
  lastUsed.note('a')
  await lastUsed.flush()
  t.deepEqual(batches, [[['a', 1000]], [['a', 2000]]])
})

test('last used: failed writes wait for the next round, and close writes them', async (t) => {
  let isDown = true
  const { batches, lastUsed } = open(t, async () => {
    if (isDown) throw new Error('down')
  })
  lastUsed.note('a')
  await t.throwsAsync(lastUsed.flush())
  t.is(lastUsed.latest('a', null), 1000)
  isDown = false
  await lastUsed.close()
  t.deepEqual(batches, [[['a', 1000]]])
})

test('last used: many keys are written in batches, and the queue is bounded', async (t) => {
  const { batches, lastUsed } = open(t)
  for (let i = 0; i < 60_000; i++) lastUsed.note(`key-${i}`)
  await lastUsed.flush()
  t.is(Math.max(...batches.map((batch) => batch.length)), 500)
  t.is(batches.flat().length, 50_000)
})
