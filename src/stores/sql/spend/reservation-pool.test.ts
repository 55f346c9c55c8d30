import test from 'ava'
import type { SpendFlush } from './flush.ts'
import { ReservationPool } from './reservation-pool.ts'

test('reservation pool: a flush that was answered is not sent again, and a pool at rest is empty', async (t) => {
  const sent: SpendFlush[] = []
  const pool = new ReservationPool({
    windows: [{ scope: 'a', window: 'd:1', limitNanoUsd: 1_000_000 }],
    leaseMs: 3_600_000,
    flush: async (flush) => {
      sent.push(flush)
      return {
        heldNanoUsd: flush.begin === undefined ? 0 : flush.begin.keepNanoUsd + flush.begin.wantNanoUsd,
        standing: [],
      }
    },
  })
  for (let i = 0; i < 8; i++) pool.note(100)
  await pool.flush()
  t.is(sent.length, 1)
  await pool.flushLast()
  t.is(sent.length, 2)
  t.deepEqual(
    sent[1]?.ends.map(({ holdId }) => holdId),
    [sent[0]?.begin?.holdId],
  )
  t.true(pool.isEmpty)
})
