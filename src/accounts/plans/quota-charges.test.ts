import test, { type ExecutionContext } from 'ava'
import { eventually } from '../../../test/support/eventually.ts'
import { createRecordingLog } from '../../../test/support/recording-log.ts'
import { GatewayError } from '../../core/errors.ts'
import type { Plans } from '../../core/money/plans.ts'
import type { CallEnd, CallLedger, CallReservation } from '../../core/ports/calls.ts'
import { QuotaCharges } from './quota-charges.ts'

const PLAN = { includedCalls: 1, creditsPerCall: 10 }
const PLANS: Plans = { free: PLAN, pro: PLAN, team: PLAN }
const CALLER = { kind: 'key', scope: 'key:k', keyId: 'k', userId: 'u' } as const
const HELD: CallReservation = { ok: true, callCredits: 0 }

function fixture(t: ExecutionContext, { answer = async (): Promise<CallReservation> => HELD } = {}) {
  const sent: CallEnd[][] = []
  const state = { isDown: false, taken: 0, ready: Promise.resolve() }
  const ledger: CallLedger = {
    take() {
      state.taken++
      return answer()
    },
    async end(ends) {
      if (state.isDown) throw new GatewayError('service_unavailable', 'the database does not answer')
      if (ends.some(({ holdId }) => holdId === 'poison')) throw new Error('violates a constraint')
      await state.ready
      sent.push([...ends])
      return ends.map(() => 'posted')
    },
  }
  const log = createRecordingLog()
  const charges = new QuotaCharges({ ledger, plans: PLANS, leaseMs: 1000, log })
  t.teardown(() => charges.close(10_000))
  const charge = (id: string) => {
    const charge = charges.open(id, CALLER)
    if (charge === undefined) throw new Error('Expected a charge')
    return charge
  }
  return { charges, charge, sent, state, log }
}

const end = (holdId: string, usedCalls: number): CallEnd => ({ holdId, accountId: 'u', usedCalls })

test('quota charges: callers without an account owe nothing', (t) => {
  const { charges } = fixture(t)
  t.is(charges.open('r', { kind: 'local', scope: 'local:x' }), undefined)
})

test('quota charges: a charge is held once and counted once', async (t) => {
  const { charges, charge, sent, state } = fixture(t)
  const owed = charge('r')
  await owed.hold()
  await owed.hold()
  t.is(owed.order(), undefined)
  owed.count()
  owed.count()
  await owed.waive()
  await charges.flush()
  t.is(state.taken, 1)
  t.deepEqual(sent, [[end('r', 1)]])
})

test('quota charges: a charge that a ledger has held along with money is not held again', async (t) => {
  const { charges, charge, sent, state } = fixture(t)
  const owed = charge('r')
  t.like(owed.order(), { holdId: 'r', accountId: 'u', calls: 1 })
  owed.accept(HELD)
  await owed.hold()
  owed.count()
  await charges.flush()
  t.is(state.taken, 0)
  t.deepEqual(sent, [[end('r', 1)]])
})

test('quota charges: a charge that was never held needs no end', async (t) => {
  const { charges, charge, sent } = fixture(t)
  await charge('r').waive()
  await charges.flush()
  t.deepEqual(sent, [])
})

test('quota charges: a charge whose hold got no reply is ended nevertheless', async (t) => {
  const { charges, charge, sent } = fixture(t, { answer: () => Promise.reject(new Error('lost')) })
  const owed = charge('r')
  await t.throwsAsync(owed.hold(), { message: 'lost' })
  await owed.waive()
  t.deepEqual(sent, [])
  await charges.flush()
  t.deepEqual(sent, [[end('r', 0)]])
})

test('quota charges: a charge is found until it has ended, however it ends', async (t) => {
  const { charges, charge } = fixture(t)
  const [counted, waived] = [charge('counted'), charge('waived')]
  t.deepEqual([charges.find('counted'), charges.find('waived'), charges.find('other')], [counted, waived, undefined])
  await counted.hold()
  counted.count()
  await waived.waive()
  t.deepEqual([charges.find('counted'), charges.find('waived')], [undefined, undefined])
})

test('quota charges: ends are retried until the database replies', async (t) => {
  const { charges, charge, sent, state, log } = fixture(t)
  state.isDown = true
  const [failed, answered] = [charge('failed'), charge('answered')]
  await failed.hold()
  await answered.hold()
  await failed.waive()
  answered.count()
  await t.throwsAsync(charges.flush(), { code: 'service_unavailable' })
  t.deepEqual(sent, [])
  state.isDown = false
  await eventually(() => sent.length > 0, 'the ends are sent')
  t.deepEqual(sent.flat(), [end('failed', 0), end('answered', 1)])
  t.true(log.lines.some(({ event }) => event === 'calls.ends-not-sent'))
})

test('quota charges: a refused one needs no end, and a failed one is free before its client receives the failure', async (t) => {
  const broke = { reason: 'credits', tier: 'pro', neededCredits: 10, freeCredits: 3 } as const
  const { charges, charge, sent } = fixture(t, { answer: async () => ({ ok: false, refused: broke }) })
  const refused = charge('refused')
  await t.throwsAsync(refused.hold())
  await refused.waive()
  await charges.flush()
  t.deepEqual(sent, [])
  const failed = charge('failed')
  failed.order()
  failed.accept(HELD)
  await failed.waive()
  t.deepEqual(sent, [[end('failed', 0)]])
})

test('quota charges: a client without an answer waits until its call is free again; one with an answer does not', async (t) => {
  const { charges, charge, sent, state } = fixture(t)
  const gate = Promise.withResolvers<void>()
  state.ready = gate.promise
  t.teardown(gate.resolve)
  const [failed, answered] = [charge('failed'), charge('answered')]
  await Promise.all([failed.hold(), answered.hold()])
  let isFree = false
  const waiving = failed.waive().then(() => {
    isFree = true
  })
  answered.count()
  await answered.waive()
  t.false(isFree)
  gate.resolve()
  await waiving
  t.true(sent.flat().some(({ holdId }) => holdId === 'failed'))
  await charges.flush()
  t.deepEqual(sent.flat(), [end('failed', 0), end('answered', 1)])
})

test('quota charges: a client without an answer waits no longer than two seconds for a ledger that hangs', async (t) => {
  const { charge, sent, state } = fixture(t)
  const gate = Promise.withResolvers<void>()
  state.ready = gate.promise
  t.teardown(gate.resolve)
  const failed = charge('failed')
  await failed.hold()
  await failed.waive()
  t.deepEqual(sent, [])
})

test('quota charges: a refusal has a remedy, and no retry', async (t) => {
  const refusal = (refused: Extract<CallReservation, { ok: false }>['refused']) =>
    fixture(t, { answer: async () => ({ ok: false, refused }) })
      .charge('r')
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

test('quota charges: a refused end does not block others', async (t) => {
  const { charges, charge, sent, log } = fixture(t)
  for (const id of ['before', 'poison', 'after']) {
    const owed = charge(id)
    await owed.hold()
    owed.count()
  }
  await charges.flush()
  t.deepEqual(sent.flat(), [end('before', 1), end('after', 1)])
  const refused = log.lines.filter(({ event }) => event === 'calls.end-refused')
  t.like(refused, [{ level: 'error', fields: { holdId: 'poison' } }])
  t.like(log.lines.at(-1), { event: 'calls.ends-not-sent', fields: { dropped: 1 } })
})
