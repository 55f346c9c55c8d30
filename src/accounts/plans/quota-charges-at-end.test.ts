import { mock } from 'node:test'
import test from 'ava'
import { createRecordingLog } from '../../../test/support/recording-log.ts'
import type { CallLedger } from '../../core/ports/calls.ts'
import { QuotaCharges } from './quota-charges.ts'

const WAITING = 20_000
const ROUND_TRIP_MS = 20
const PLAN = { includedCalls: 1, creditsPerCall: 10 }
const CALLER = { kind: 'key', scope: 'key:k', keyId: 'k', userId: 'u' } as const

test.before(() => mock.timers.enable({ apis: ['setTimeout'] }))
test.after.always(() => mock.timers.reset())

test('quota charges: at the end, all that wait are sent within the time given, as at 20 ms a transaction', async (t) => {
  const gate = Promise.withResolvers<void>()
  const sent = new Set<string>()
  const ledger: CallLedger = {
    take: async () => ({ ok: true, callCredits: 0 }),
    async end(ends) {
      await gate.promise
      mock.timers.tick(ROUND_TRIP_MS)
      for (const { holdId } of ends) sent.add(holdId)
      return ends.map(() => 'posted')
    },
  }
  const log = createRecordingLog()
  const charges = new QuotaCharges({ ledger, plans: { free: PLAN, pro: PLAN, team: PLAN }, leaseMs: 1000, log })
  for (let i = 0; i < WAITING; i++) {
    const charge = charges.open(`r${i}`, CALLER)
    await charge?.hold()
    charge?.count()
  }
  const closed = charges.close(30_000)
  gate.resolve()
  await closed
  t.is(sent.size, WAITING)
  t.deepEqual(log.lines, [])
})
