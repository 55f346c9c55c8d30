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

test('reservation pool: a request that is refused for its spare leaves nothing open', async (t) => {
  const window = { scope: 'a', window: 'd:1', limitNanoUsd: 2000 }
  const pool = new ReservationPool({
    windows: [window],
    leaseMs: 3_600_000,
    flush: async ({ begin }) => {
      const heldNanoUsd = begin === undefined ? 0 : begin.keepNanoUsd + begin.wantNanoUsd
      return { heldNanoUsd, standing: [{ ...window, settledNanoUsd: 0, heldNanoUsd }] }
    },
  })
  for (let i = 0; i < 8; i++) pool.note(100)
  await pool.flush()
  t.is(pool.allocate(100, 2000), undefined)
  await pool.flushLast()
  t.true(pool.isEmpty)
})
