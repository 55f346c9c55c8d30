import { mock } from 'node:test'
import test from 'ava'
import { createRecordingLog } from '../../../../test/support/recording-log.ts'
import { unavailable } from '../engine/faults.ts'
import { SpendEnds } from './ends.ts'
import type { SettleOutcome, SpendEnd } from './holds.ts'

const WAITING = 20_000
const ROUND_TRIP_MS = 20

test.before(() => mock.timers.enable({ apis: ['setTimeout'] }))
test.after.always(() => mock.timers.reset())

/** Returns ends that wait for a database that was down; then each transaction calls `settle` first. */
async function openWaiting(count: number, settle: () => Promise<void>) {
  const log = createRecordingLog()
  const sent = new Set<string>()
  let isDown = true
  const ends = new SpendEnds({
    async settle(batch: readonly SpendEnd[]): Promise<SettleOutcome[]> {
      if (isDown) throw unavailable('the database is down')
      await settle()
      for (const { holdId } of batch) sent.add(holdId)
      return batch.map(() => 'settled')
    },
    log,
  })
  await Promise.all(Array.from({ length: count }, (_, i) => ends.send({ holdId: `h${i}`, costNanoUsd: 1 })))
  isDown = false
  return { ends, sent, log }
}

test.serial(
  'spend ends: at the end, all that wait are sent within the time given, as at 20 ms a transaction',
  async (t) => {
    const { ends, sent } = await openWaiting(WAITING, async () => mock.timers.tick(ROUND_TRIP_MS))
    await ends.close(30_000)
    t.is(sent.size, WAITING)
  },
)

test.serial(
  'spend ends: close ends in time while the database hangs, logs how many wait, and sends none afterwards',
  async (t) => {
    const hanging = Promise.withResolvers<void>()
    const begun = Promise.withResolvers<void>()
    const { ends, sent, log } = await openWaiting(200, () => {
      begun.resolve()
      return hanging.promise
    })
    const closed = ends.close(30_000)
    await begun.promise
    mock.timers.tick(30_000)
    await closed
    t.like(log.lines.at(-1), {
      event: 'spend.settlements-wait',
      fields: { waiting: 200, reason: 'the gateway stopped' },
    })
    hanging.resolve()
    await new Promise(setImmediate)
    t.is(sent.size, 64, 'those in flight')
  },
)
