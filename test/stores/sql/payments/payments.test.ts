import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { messageOf } from '../../../../src/core/errors.ts'
import type { PaymentClaim } from '../../../../src/core/ports/payments.ts'
import { createPaymentStore } from '../../../../src/stores/sql/payments/payment-store.ts'
import { isDrill, sampled } from '../../../support/drill.ts'
import { assertPlaces, copyOfStore, type Fault, type MemoryDatabase, openInMemory } from '../memory.ts'
import { engines } from '../places.ts'
import { checkPayments, type PaymentsUnderTest } from './payment-model.ts'
import { noOutcomes } from './payment-outcomes.ts'
import { steps } from './payment-steps.ts'

const CLAIM: PaymentClaim = {
  challengeId: 'c',
  windowId: 'w',
  expiresAtMs: 2 ** 52,
  tokenHash: 't',
  amountCents: 50,
  currency: 'usd',
  settlement: 'manual',
  route: '/v1/agent/messages',
  model: 'm',
  owner: 'o',
  leaseMs: 60_000,
}

function subjectAt({ run, sql }: Omit<MemoryDatabase, 'close'>): PaymentsUnderTest {
  return {
    ...createPaymentStore({ run }),
    endLease: async (id) => void (await sql(`update payment set lease_until_ms = 0 where id = '${id}'`)),
    makeDue: async (id) => void (await sql(`update payment set due_at_ms = 0 where id = '${id}'`)),
  }
}

for (const engine of engines) {
  engine.test(
    'payments: whatever is tried, at once and in any order, each step is taken once, by its owner',
    async (t) => {
      const { place, store } = await engine.shared()
      const subject = subjectAt({ run: store.run.bind(store), sql: place.sql })
      const outcomes = noOutcomes()
      const property = fc.asyncProperty(steps, (taken) => checkPayments(subject, taken, outcomes))
      const { failed, seed, counterexample, errorInstance } = await fc.check(property, {
        numRuns: isDrill ? 40 : engine.name === 'sqlite' ? 20 : 15,
        seed: 3,
        endOnFailure: true,
      })
      if (failed) t.log({ seed, counterexample: JSON.stringify(counterexample), error: errorInstance })
      t.false(failed)
      t.log(JSON.stringify(outcomes))
      for (const [outcome, count] of Object.entries(outcomes)) t.true(count > 0, outcome)
    },
  )

  engine.test(
    'payments: one is taken up eight times at most before its capture, and without end after it',
    async (t) => {
      const place = await engine.createPlace(t)
      const store = await place.open()
      const subject = subjectAt({ run: store.run.bind(store), sql: place.sql })
      await subject.openWindow('w')
      const takeUp = async () => {
        await subject.endLease('c')
        return subject.claim(CLAIM)
      }
      for (let fence = 1; fence <= 8; fence++) t.like(await takeUp(), { kind: 'held', payment: { fence } })
      t.deepEqual(await takeUp(), { kind: 'busy' })
      await subject.endLease('c')
      const held = { challengeId: 'c', owner: 'o', fence: 8 }
      t.true(await subject.move({ ...held, from: 'claimed', to: 'captured', reference: 'pi_1' }))
      t.like(await takeUp(), { kind: 'held', payment: { fence: 9, state: 'captured', reference: 'pi_1' } })
      t.like(await takeUp(), { kind: 'held', payment: { fence: 10 } })
    },
  )

  engine.test('payments: a captured one is in the public list, newest first, page by page', async (t) => {
    const place = await engine.createPlace(t)
    const payments = createPaymentStore(await place.open())
    await payments.openWindow('w')
    for (const challengeId of ['c1', 'c2', 'c3', 'never']) {
      await payments.claim({ ...CLAIM, challengeId })
      if (challengeId === 'never') continue
      const held = { challengeId, owner: 'o', fence: 1 }
      t.true(await payments.move({ ...held, from: 'claimed', to: 'captured', reference: `pi_${challengeId}` }))
      if (challengeId !== 'c3') t.true(await payments.move({ ...held, from: 'captured', to: 'consumed' }))
      await place.sql(`update payment set captured_at_ms = ${challengeId === 'c1' ? 1 : 2} where id = '${challengeId}'`)
    }
    const first = await payments.listSettled({ limit: 2 })
    t.deepEqual(
      first.map(({ reference, state, amountCents }) => [reference, state, amountCents]),
      [
        ['pi_c3', 'captured', 50],
        ['pi_c2', 'consumed', 50],
      ],
    )
    const rest = await payments.listSettled({ before: first[1], limit: 2 })
    t.deepEqual(
      rest.map(({ reference }) => reference),
      ['pi_c1'],
    )
    const afterFirst = await payments.listSettled({ before: first[0], limit: 2 })
    t.deepEqual(
      afterFirst.map(({ reference }) => reference),
      ['pi_c2', 'pi_c1'],
      'a page may end between two of the same millisecond',
    )
  })

  engine.test('payments: windows and payments without money go when they are old, money never', async (t) => {
    const place = await engine.createPlace(t)
    const payments = createPaymentStore(await place.open())
    await payments.openWindow('w')
    for (const [challengeId, to] of [
      ['failed', 'failed'],
      ['captured', 'captured'],
    ] as const) {
      await payments.claim({ ...CLAIM, challengeId })
      const reference = to === 'captured' ? 'pi_1' : undefined
      await payments.move({ challengeId, owner: 'o', fence: 1, from: 'claimed', to, reference })
    }
    t.is(await payments.prune(), 0)
    await place.sql(`update payment_window set opened_at_ms = 1`)
    await place.sql(`update payment set ended_at_ms = 1 where state = 'failed'`)
    await place.sql(`update payment set captured_at_ms = 1 where state = 'captured'`)
    t.is(await payments.prune(), 2)
    t.deepEqual(await place.sql('select id from payment'), [{ id: 'captured' }])
    t.deepEqual(await payments.claim({ ...CLAIM, challengeId: 'failed' }), { kind: 'refused', why: 'unknown' })
  })

  engine.test('payments: the database itself refuses money that is nowhere, or taken before it is held', async (t) => {
    const place = await engine.createPlace(t)
    const payments = createPaymentStore(await place.open())
    await payments.openWindow('w')
    await payments.claim(CLAIM)
    const held = { challengeId: 'c', owner: 'o', fence: 1 }
    await t.throwsAsync(payments.move({ ...held, from: 'claimed', to: 'captured' }))
    await t.throwsAsync(payments.move({ ...held, from: 'claimed', to: 'consumed' }), { message: /cannot go/ })
    for (const change of [`state = 'consumed'`, `captured_at_ms = 1`, `state = 'gone'`, `amount_cents = 0`])
      await t.throwsAsync(place.sql(`update payment set ${change} where id = 'c' returning id`), undefined, change)
    t.like((await place.sql('select state from payment'))[0], { state: 'claimed' })
  })
}

/** Faults of the store: file, right text, and the wrong text in its place. */
const FAULTS: Readonly<Record<string, Fault>> = {
  'does not look at the owner’s fence': [
    'payments/steps.ts',
    'updateOwned(db, move)',
    "db.updateTable('payment').where('id', '=', move.challengeId)",
  ],
  'does not look at the state before': ['payments/steps.ts', "    .where('state', '=', from)\n", ''],
  'lets another token go on': ['payments/claim.ts', "    .where('token_hash', '=', claim.tokenHash)\n", ''],
  'lets two work on one payment': [
    'payments/claim.ts',
    "    .where('lease_until_ms', '<=', now)\n    .where((is)",
    '    .where((is)',
  ],
  'does not count owners': ['payments/claim.ts', "fence: of('fence', '+', 1)", "fence: of('fence', '+', 0)"],
  'goes on with what is overdue': ['payments/claim.ts', "is('due_at_ms', '>', now)", "is('due_at_ms', '>=', 0)"],
  'takes challenges of windows it has lost': [
    'payments/claim.ts',
    'return row !== undefined\n}\n\nasync function isKnownWindow',
    'return true\n}\n\nasync function isKnownWindow',
  ],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text
  'takes challenges that are over': ['payments/claim.ts', '${now} < ${expiresAtMs}', '0 < ${expiresAtMs}'],
  'reaps under the owner’s hands': [
    'payments/steps.ts',
    "    .where('lease_until_ms', '<=', now)\n    .orderBy('due_at_ms')\n    .limit(AT_ONCE)\n    .execute()\n  if (due.length === 0) return []\n  // Checks again on the locked rows: another instance may have taken them since they were selected.\n",
    "    .orderBy('due_at_ms')\n    .limit(AT_ONCE)\n    .execute()\n  if (due.length === 0) return []\n  return db.updateTable('payment').set((of) => ({ owner, fence: of('fence', '+', 1) })).where('id', 'in', due.map(({ id }) => id)).returning(['id as challengeId', 'owner', 'fence', 'state', 'reference']).execute() as never\n",
  ],
  'keeps what was captured due': ['payments/steps.ts', 'captured_at_ms: now, due_at_ms: null', 'captured_at_ms: now'],
  'renews what is another’s': [
    'payments/steps.ts',
    'updateOwned(db, lease)',
    "db.updateTable('payment').where('id', '=', lease.challengeId)",
  ],
  'counts what a former owner left': [
    'payments/steps.ts',
    'const left = await updateOwned(db, ownership)',
    "const left = await db.updateTable('payment').where('id', '=', ownership.challengeId)",
  ],
  'goes on with what was left too often': [
    'payments/claim.ts',
    "    .where('left_calls', '<=', FREE_LEFT_CALLS)\n",
    '',
  ],
  'gives back whatever was left': [
    'payments/steps.ts',
    "? 'delivered' : 'given-back'",
    "? 'given-back' : 'given-back'",
  ],
  'releases what is another’s': [
    'payments/steps.ts',
    '  await updateOwned(db, ownership).set',
    "  await db.updateTable('payment').where('id', '=', ownership.challengeId).set",
  ],
}

/** Payments in this thread's memory, in a copy of the store. */
async function paymentsInCopy(t: ExecutionContext, fault?: Fault): Promise<PaymentsUnderTest> {
  return subjectAt(await openInMemory(await copyOfStore(t, fault)))
}

test('sqlite: payments: each planted fault has its place', (t) => assertPlaces(t, FAULTS))

// That the property runs at all is a test of the store; that it would find these, of the property.
for (const [fault, change] of sampled(Object.entries(FAULTS), 0, 8)) {
  test(`sqlite: payments: the property finds out a store that ${fault}`, async (t) => {
    const subject = await paymentsInCopy(t, change)
    const property = fc.asyncProperty(steps, (taken) => checkPayments(subject, taken))
    const { failed, numRuns, errorInstance } = await fc.check(property, { numRuns: 400, seed: 5, endOnFailure: true })
    t.true(failed)
    t.log(`run ${numRuns}: ${messageOf(errorInstance).split('\n')[0]}`)
  })
}

test('sqlite: payments: the property finds nothing in a true copy', async (t) => {
  const subject = await paymentsInCopy(t)
  const property = fc.asyncProperty(steps, (taken) => checkPayments(subject, taken))
  await t.notThrowsAsync(() => fc.assert(property, { numRuns: isDrill ? 100 : 20 }))
})
