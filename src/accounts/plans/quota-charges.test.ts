import test, { type ExecutionContext } from 'ava'
import { createRecordingLog } from '../../../test/support/recording-log.ts'
import { GatewayError } from '../../core/errors.ts'
import type { Plans } from '../../core/money/plans.ts'
import type { CallEnd, CallLedger, CallReservation } from '../../core/ports/calls.ts'
import { QuotaCharges } from './quota-charges.ts'

const PLAN = { includedCalls: 1, creditsPerCall: 10 }
const PLANS: Plans = { free: PLAN, pro: PLAN, team: PLAN }
const CALLER = { kind: 'key', scope: 'key:k', keyId: 'k', userId: 'u' } as const
const HELD: CallReservation = { ok: true, callCredits: 0 }

function stage(t: ExecutionContext, { answer = async (): Promise<CallReservation> => HELD } = {}) {
  const told: CallEnd[][] = []
  const state = { isDown: false, taken: 0 }
  const ledger: CallLedger = {
    take() {
      state.taken++
      return answer()
    },
    async end(ends) {
      if (state.isDown) throw new GatewayError('service_unavailable', 'the database does not answer')
      if (ends.some(({ holdId }) => holdId === 'poison')) throw new Error('violates a constraint')
      told.push([...ends])
      return ends.map(() => 'posted')
    },
  }
  const log = createRecordingLog()
  const fees = new QuotaCharges({ ledger, plans: PLANS, leaseMs: 1000, log })
  t.teardown(() => fees.close())
  const fee = (id: string) => {
    const fee = fees.of(id, CALLER)
    if (fee === undefined) throw new Error('Expected a fee')
    return fee
  }
  return { fees, fee, told, state, log }
}

const end = (holdId: string, usedCalls: number): CallEnd => ({ holdId, accountId: 'u', usedCalls })

test('fees: callers without an account owe nothing', (t) => {
  const { fees } = stage(t)
  t.is(fees.of('r', { kind: 'local', scope: 'local:x' }), undefined)
})

test('fees: one is held once and counted once', async (t) => {
  const { fees, fee, told, state } = stage(t)
  const owed = fee('r')
  await owed.hold()
  await owed.hold()
  t.is(owed.order(), undefined)
  owed.count()
  owed.count()
  await owed.waive()
  await fees.flush()
  t.is(state.taken, 1)
  t.deepEqual(told, [[end('r', 1)]])
})

test('fees: one that a ledger has held along with money is not held again', async (t) => {
  const { fees, fee, told, state } = stage(t)
  const owed = fee('r')
  t.like(owed.order(), { holdId: 'r', accountId: 'u', calls: 1 })
  owed.accept(HELD)
  await owed.hold()
  owed.count()
  await fees.flush()
  t.is(state.taken, 0)
  t.deepEqual(told, [[end('r', 1)]])
})

test('fees: one that was never asked for needs no end', async (t) => {
  const { fees, fee, told } = stage(t)
  await fee('r').waive()
  await fees.flush()
  t.deepEqual(told, [])
})

test('fees: one whose hold was not answered is ended all the same', async (t) => {
  const { fees, fee, told } = stage(t, { answer: () => Promise.reject(new Error('lost')) })
  const owed = fee('r')
  await t.throwsAsync(owed.hold(), { message: 'lost' })
  await owed.waive()
  t.deepEqual(told, [])
  await fees.flush()
  t.deepEqual(told, [[end('r', 0)]])
})

test('fees: who leaves has had a call only where somebody worked on the answer', async (t) => {
  const { fees, fee, told } = stage(t)
  const [idle, busy] = [fee('idle'), fee('busy')]
  await idle.hold()
  await busy.hold()
  busy.markAsked()
  await idle.leave()
  await busy.leave()
  await fees.flush()
  t.deepEqual(told.flat(), [end('idle', 0), end('busy', 1)])
})

test('fees: ends are told again until the database answers', async (t) => {
  const { fees, fee, told, state, log } = stage(t)
  state.isDown = true
  const [failed, answered] = [fee('failed'), fee('answered')]
  await failed.hold()
  await answered.hold()
  await failed.waive()
  answered.count()
  await t.throwsAsync(fees.flush())
  state.isDown = false
  await fees.flush()
  t.deepEqual(told.flat(), [end('failed', 0), end('answered', 1)])
  t.true(log.lines.some(({ event }) => event === 'calls.ends-not-told'))
})

test('fees: one that was refused needs no end, and what failed is free before its client hears of it', async (t) => {
  const broke = { reason: 'credits', tier: 'pro', neededCredits: 10, freeCredits: 3 } as const
  const { fees, fee, told } = stage(t, { answer: async () => ({ ok: false, refused: broke }) })
  const refused = fee('refused')
  await t.throwsAsync(refused.hold())
  await refused.waive()
  await fees.flush()
  t.deepEqual(told, [])
  const failed = fee('failed')
  failed.order()
  failed.accept(HELD)
  await failed.waive()
  t.deepEqual(told, [[end('failed', 0)]])
})

test('fees: a refusal says what to do, and not to try again', async (t) => {
  const refusal = (refused: Extract<CallReservation, { ok: false }>['refused']) =>
    stage(t, { answer: async () => ({ ok: false, refused }) })
      .fee('r')
      .hold()
  const resetsAtMs = Date.UTC(2026, 11, 1)
  const used = { reason: 'calls', tier: 'free', includedCalls: 3 } as const
  const headers = { 'x-should-retry': 'false' }
  const more = /3 calls a period.*at 2026-12-01T00:00:00.000Z/
  t.like(await t.throwsAsync(refusal({ ...used, resetsAtMs }), { message: more }), { code: 'plan_calls_used', headers })
  await t.throwsAsync(refusal({ ...used, resetsAtMs: undefined }), { message: /with the next paid period/ })
  const broke = { reason: 'credits', tier: 'pro', neededCredits: 10, freeCredits: 3 } as const
  t.like(await t.throwsAsync(refusal(broke), { message: /costs 10 credits, and 3 are left/ }), {
    code: 'payment_required',
    status: 402,
    headers,
  })
})

test('fees: an end that the ledger refuses keeps no other back', async (t) => {
  const { fees, fee, told, log } = stage(t)
  for (const id of ['before', 'poison', 'after']) {
    const owed = fee(id)
    await owed.hold()
    owed.count()
  }
  await fees.flush()
  t.deepEqual(told.flat(), [end('before', 1), end('after', 1)])
  t.like(log.lines.at(-1), { level: 'error', event: 'calls.end-refused', fields: { holdId: 'poison' } })
})
