import test from 'ava'
import { GatewayError } from '../../../src/core/errors.ts'
import { SharedLookups } from '../../../src/stores/sql/accounts/shared-lookups.ts'
import { unavailable } from '../../../src/stores/sql/engine/faults.ts'
import { Lanes, longestLaneWaitMs } from '../../../src/stores/sql/postgres/lanes.ts'
import { PATIENCE_MS } from '../../support/patience.ts'

/** Creates work that ends when it is released. */
function createWork() {
  const gates: PromiseWithResolvers<void>[] = []
  let most = 0
  let running = 0
  return {
    gates,
    most: () => most,
    async work(): Promise<void> {
      most = Math.max(most, ++running)
      const gate = Promise.withResolvers<void>()
      gates.push(gate)
      await gate.promise.finally(() => running--)
    },
  }
}

let answers = 0

const turn = () => new Promise((resolve) => setImmediate(resolve))

test.serial('lanes: two of a name run, in their order; another name does not wait', async (t) => {
  const lanes = new Lanes(() => answers, PATIENCE_MS)
  const { gates, work, most } = createWork()
  const ended: number[] = []
  const all = Array.from({ length: 6 }, (_, nth) => lanes.run('a', work).then(() => void ended.push(nth)))
  await turn()
  t.is(gates.length, 2)
  const other = lanes.run('b', async () => 'done')
  t.is(await other, 'done')
  for (let nth = 0; nth < 6; nth++) {
    gates[nth]?.resolve()
    await turn()
  }
  await Promise.all(all)
  t.deepEqual(ended, [0, 1, 2, 3, 4, 5])
  t.is(most(), 2)
})

test.serial(
  'lanes: all that wait are refused with work during which the database answered nothing, and not with another failure',
  async (t) => {
    const lanes = new Lanes(() => answers, PATIENCE_MS)
    const { gates, work } = createWork()
    const all = Promise.allSettled(Array.from({ length: 4 }, () => lanes.run('a', work)))
    await turn()
    gates[0]?.reject(new GatewayError('internal_error', 'This one only.'))
    await turn()
    t.is(gates.length, 3)
    gates[2]?.reject(unavailable('Down.'))
    await turn()
    gates[1]?.resolve()
    t.deepEqual(
      (await all).map(({ status }) => status),
      ['rejected', 'fulfilled', 'rejected', 'rejected'],
    )
    t.is(await lanes.run('a', async () => 'again'), 'again')
  },
)

test.serial(
  'lanes: late work is run again, three times in all, while the database answers anything, and refuses nothing that waits',
  async (t) => {
    const lanes = new Lanes(() => answers, PATIENCE_MS)
    const { gates, work } = createWork()
    const all = Promise.allSettled(Array.from({ length: 3 }, () => lanes.run('a', work)))
    await turn()
    for (const [late, begun] of [
      [0, 3],
      [2, 4],
    ] as const) {
      answers++
      gates[late]?.reject(unavailable('Late.'))
      await turn()
      t.is(gates.length, begun)
    }
    answers++
    gates[3]?.reject(unavailable('Late.'))
    await turn()
    t.is(gates.length, 5)
    for (const { resolve } of gates) resolve()
    t.deepEqual(
      (await all).map(({ status }) => status),
      ['rejected', 'fulfilled', 'fulfilled'],
    )
  },
)

test.serial('lanes: the 1,025th that would wait is refused', async (t) => {
  const lanes = new Lanes(() => answers, PATIENCE_MS)
  const gate = Promise.withResolvers<void>()
  const all = Array.from({ length: 2 + 1024 }, () => lanes.run('a', () => gate.promise))
  await t.throwsAsync(
    lanes.run('a', () => gate.promise),
    { code: 'service_unavailable' },
  )
  gate.resolve()
  await Promise.all(all)
})

test.serial('lanes: what has waited too long is refused, and what comes later is not', async (t) => {
  const lanes = new Lanes(() => answers, -1)
  const { gates, work } = createWork()
  const all = Promise.allSettled(Array.from({ length: 4 }, () => lanes.run('a', work)))
  await turn()
  for (const { resolve } of gates) resolve()
  t.deepEqual(
    (await all).map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'rejected'],
  )
  t.is(await lanes.run('a', async () => 'later'), 'later')
})

test('shared look-ups: each begins after its request, and concurrent requests share one', async (t) => {
  let begun = 0
  const gates: PromiseWithResolvers<number>[] = []
  const lookups = new SharedLookups(() => {
    const gate = Promise.withResolvers<number>()
    gates.push(gate)
    begun++
    return gate.promise
  })
  const first = lookups.find('k')
  const second = lookups.find('k')
  const third = lookups.find('k')
  t.is(begun, 1)
  gates[0]?.resolve(1)
  t.is(await first, 1)
  await turn()
  t.is(begun, 2)
  gates[1]?.resolve(2)
  t.deepEqual(await Promise.all([second, third]), [2, 2])
  const failing = lookups.find('k')
  gates[2]?.reject(unavailable('Down.'))
  await t.throwsAsync(failing, { code: 'service_unavailable' })
  void lookups.find('k')
  t.is(begun, 4)
})

test('lanes: an item waits for fifteen time-outs of a command, at least 30 s and at most five minutes', (t) => {
  t.deepEqual([100, 2000, 4000, 20_000, 600_000].map(longestLaneWaitMs), [30_000, 30_000, 60_000, 300_000, 300_000])
})
