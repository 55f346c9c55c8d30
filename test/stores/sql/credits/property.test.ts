import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { messageOf } from '../../../../src/core/errors.ts'
import { isDrill, sampled } from '../../../support/drill.ts'
import { assertPlaces, copyOfStore, type Fault, openInMemory, REAL } from '../memory.ts'
import { engines } from '../places.ts'
import { drill } from './drill.ts'
import { checkCredits, noOutcomes, type Outcomes } from './model.ts'
import { lists, roundLists } from './steps.ts'

const LISTS_A_BOOK = 8

/** As `fc.assert`, whose error hides what went wrong from AVA. */
async function assertHolds<Values>(
  t: ExecutionContext,
  property: fc.IAsyncProperty<Values>,
  parameters: fc.Parameters<Values>,
): Promise<void> {
  const { failed, seed, counterexample, errorInstance } = await fc.check(property, parameters)
  if (failed) t.log({ seed, counterexample: JSON.stringify(counterexample), error: errorInstance })
  t.false(failed)
}

function assertAllOccurred(t: ExecutionContext, outcomes: Outcomes): void {
  t.log(JSON.stringify(outcomes))
  for (const [outcome, count] of Object.entries(outcomes)) t.true(count > 0, outcome)
}

test('sqlite: credits: whatever the commands, the books agree, plans hold and no account is locked out', async (t) => {
  let ledger = await openInMemory(REAL)
  let checked = 0
  const outcomes = noOutcomes()
  const property = fc.asyncProperty(lists, async (taken) => {
    // Large books take long to look through.
    if (++checked % LISTS_A_BOOK === 0) {
      await ledger.close()
      ledger = await openInMemory(REAL)
    }
    await checkCredits(ledger, taken, { outcomes, isCloselyWatched: true })
  })
  await assertHolds(t, property, { numRuns: drill.lists, endOnFailure: true })
  assertAllOccurred(t, outcomes)
})

for (const engine of engines) {
  engine.test(
    'credits: whatever the concurrent commands, the books agree, plans hold and no account is locked out',
    async (t) => {
      const { place, store } = await engine.shared()
      const ledger = { run: store.run.bind(store), sql: place.sql }
      const outcomes = noOutcomes()
      const property = fc.asyncProperty(roundLists, (taken) =>
        checkCredits(ledger, taken, { outcomes, isCloselyWatched: false }),
      )
      // Few runs, so always the same: each outcome occurs in them.
      await assertHolds(t, property, { numRuns: drill.rounds, seed: 7, endOnFailure: true })
      // Debts after a lease have a scenario of their own: they are rare where little is watched.
      assertAllOccurred(t, { ...outcomes, shortfall: 1 })
    },
  )
}

/**
 * Faults that the books can have. Each is found out by the property; by what, is logged: a rule of the books, an answer
 * that does not follow, or an unexpected error (I12), since the database refuses what cannot be.
 */
const FAULTS: Readonly<Record<string, Fault>> = {
  'does not ask for credits': [
    'credits/account-credits.ts',
    'posted_credits - held_credits >= $',
    'posted_credits >= $',
  ],
  'ends a hold twice': [
    'credits/end.ts',
    ".where('state', 'in', ['open', 'expired'])",
    ".where('state', '!=', 'voided')",
  ],
  'frees an expired hold again': ['credits/end.ts', 'isLate ? 0 : -hold.calls', '-hold.calls'],
  'frees an expired hold’s credits again': [
    'credits/end.ts',
    'isLate\n    ? await',
    'isLate && calls < 0\n    ? await',
  ],
  'charges beyond the balance': ['credits/end.ts', 'Math.min(owedCredits, postedCredits - heldCredits)', 'owedCredits'],
  'takes what others hold': [
    'credits/end.ts',
    'Math.min(owedCredits, postedCredits - heldCredits)',
    'Math.min(owedCredits, postedCredits)',
  ],
  'charges what was held, not what was used': [
    'credits/end.ts',
    'const owedCredits = usedCalls * callCredits',
    'const owedCredits = calls * callCredits',
  ],
  'does not free what was voided': [
    'credits/end.ts',
    'if (hold.call_credits > 0) await charge',
    'if (hold.call_credits > 0 && hold.used_calls > 0) await charge',
  ],
  'holds the same twice': [
    'credits/take.ts',
    'if (found.state !== null) return renew',
    "if (found.state === 'voided') return renew",
  ],
  'keeps the calls of a refused order': [
    'credits/take.ts',
    'if (!result.ok) throw new Undo(result)\n  return result',
    'return result',
  ],
  'refuses the last call': [
    '../../core/money/plans.ts',
    'usedCalls < includedCalls ?',
    'usedCalls < includedCalls - 1 ?',
  ],
  'gives one call too many': [
    '../../core/money/plans.ts',
    'usedCalls < includedCalls ?',
    'usedCalls <= includedCalls ?',
  ],
  'forgets calls that expire': ['credits/sweep.ts', 'heldCalls: -freed.calls', 'heldCalls: 0'],
  'forgets credits that expire': ['credits/sweep.ts', 'if (freed.credits > 0)', 'if (freed.credits > 99)'],
  'enters the same twice': [
    'credits/entries.ts',
    "if (known !== undefined) return 'replayed'",
    "if (known === null) return 'replayed'",
  ],
  'takes back what is held': ['credits/entries.ts', 'heldCredits - postedCredits)', '-postedCredits)'],
  'leaves a gap in the numbers': ['credits/entries.ts', "of('entry_seq', '+', 1)", "of('entry_seq', '+', 2)"],
  'counts overage by requests, not by calls': ['credits/end.ts', ' calls: given.usedCalls,', ' calls: 1,'],
  'forgets what is owed': ['credits/end.ts', 'shortfallCredits: owedCredits - chargedCredits', 'shortfallCredits: 0'],
  'counts a voided call': [
    'credits/end.ts',
    'settledCalls: hold.used_calls, heldCalls',
    'settledCalls: hold.calls, heldCalls',
  ],
}

test('sqlite: credits: each planted fault has its place', (t) => assertPlaces(t, FAULTS))

// That the property runs at all is a test of the store; that it would find these, of the property.
for (const [fault, change] of sampled(Object.entries(FAULTS), 3, 12)) {
  test(`sqlite: credits: the property finds out books that ${fault}`, async (t) => {
    const ledger = await openInMemory(await copyOfStore(t, change))
    const property = fc.asyncProperty(lists, (taken) => checkCredits(ledger, taken, { isCloselyWatched: true }))
    const { failed, numRuns, errorInstance } = await fc.check(property, { numRuns: 200, endOnFailure: true })
    t.true(failed)
    t.log(`run ${numRuns}: ${messageOf(errorInstance).replaceAll(/\s+/g, ' ').slice(0, 160)}`)
  })
}

test('sqlite: credits: the property finds nothing in a true copy', async (t) => {
  const ledger = await openInMemory(await copyOfStore(t))
  const property = fc.asyncProperty(lists, (taken) => checkCredits(ledger, taken, { isCloselyWatched: true }))
  await t.notThrowsAsync(() => fc.assert(property, { numRuns: isDrill ? 20 : 5 }))
})
