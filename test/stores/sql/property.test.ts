import { randomUUID } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { messageOf } from '../../../src/core/errors.ts'
import type { SpendWindow } from '../../../src/core/ports/spend-ledger.ts'
import { createSpendLedger } from '../../../src/stores/sql/spend/ledger.ts'
import { isDrill, sampled } from '../../support/drill.ts'
import { checkLedger, type LedgerUnderTest } from './ledger-model.ts'
import { noOutcomes } from './ledger-outcomes.ts'
import { rounds } from './ledger-steps.ts'
import { assertPlaces, copyOfStore, type Fault, openInMemory, REAL, type StoreProgram } from './memory.ts'
import { endLeases, engines } from './places.ts'

/** Opens a ledger in this thread's memory, from the real source or from a copy of it. */
async function ledgerInMemory(program: StoreProgram): Promise<LedgerUnderTest> {
  const { run, sql } = await openInMemory(program)
  return {
    reserve: (hold) => run('spend.reserve', hold),
    grow: (change) => run('spend.grow', change),
    settle: (end) => run('spend.settle', [end]),
    sweep: () => run('spend.sweep', undefined),
    spent: (windows) => run('spend.read', windows),
    raise: async (window, by) => (await run('spend.raise-budget', raiseOf(window, by))) !== undefined,
    endLease: (id) => endLeases({ sql }, [id]),
  }
}

/** Returns the order that raises a budget of a scope. */
function raiseOf({ scope, window }: SpendWindow, by: number) {
  const name = window.startsWith('n:') ? ('tokens_per_conversation' as const) : ('turns_per_conversation' as const)
  const scopes = [scope.slice('key:'.length)]
  return { name, conversation: 'one', agent: undefined, by, scopes, actor: 'operator', auditId: randomUUID() }
}

/** As `fc.assert`, whose error hides what went wrong from AVA. */
async function assertHolds<Values>(
  t: ExecutionContext,
  property: fc.IAsyncProperty<Values>,
  parameters: fc.Parameters<Values>,
): Promise<void> {
  const { failed, seed, counterexample, errorInstance } = await fc.check(property, parameters)
  if (failed) t.log({ seed, counterexample, error: errorInstance })
  t.false(failed)
}

function assertAllOccurred(t: ExecutionContext, outcomes: ReturnType<typeof noOutcomes>): void {
  t.log(JSON.stringify(outcomes))
  for (const [outcome, count] of Object.entries(outcomes)) t.true(count > 0, outcome)
}

test('sqlite: ledger: whatever the commands, caps hold, sums are exact and no caller is locked out', async (t) => {
  const ledger = await ledgerInMemory(REAL)
  const outcomes = noOutcomes()
  const property = fc.asyncProperty(rounds, (taken) => checkLedger(ledger, taken, outcomes))
  await assertHolds(t, property, { numRuns: isDrill ? 60 : 15 })
  assertAllOccurred(t, outcomes)
})

for (const engine of engines) {
  engine.test(
    'ledger: whatever the concurrent commands, caps hold, sums are exact and no caller is locked out',
    async (t) => {
      const { place, store } = await engine.shared()
      const ledger = createSpendLedger({ store, log: place.log })
      await ledger.close(10_000) // ends only its timer: the model decides when holds expire, whatever time that takes
      const outcomes = noOutcomes()
      const subject: LedgerUnderTest = {
        ...ledger,
        raise: async (window, by) => (await store.run('spend.raise-budget', raiseOf(window, by))) !== undefined,
        endLease: (id) => endLeases(place, [id]),
      }
      const property = fc.asyncProperty(rounds, (taken) => checkLedger(subject, taken, outcomes))
      // Few runs, so always the same: each outcome occurs in them.
      await assertHolds(t, property, { numRuns: engine.name === 'sqlite' ? 12 : 8, seed: 3, endOnFailure: true })
      assertAllOccurred(t, outcomes)
    },
  )
}

/** Faults of a ledger: file, right text, and the wrong text in its place. */
const FAULTS: Readonly<Record<string, Fault>> = {
  'compares the limit before adding': ['spend/windows.ts', ' + excluded.held_nano_usd <= $', ' <= $'],
  'does not check growth': ['spend/holds.ts', 'after === before ? changeWindow', 'after > 0 ? changeWindow'],
  'settles twice': [
    'spend/holds.ts',
    ".where('state', '!=', 'settled')\n    .returning(['previous_state', 'amount_",
    ".returning(['previous_state', 'amount_",
  ],
  'releases an expired hold twice': [
    'spend/holds.ts',
    'heldNanoUsd: wasCounted ? 0 :',
    'heldNanoUsd: wasCounted ? -hold.amount_nano_usd :',
  ],
  'leaves a refused reservation in the first windows': [
    'spend/holds.ts',
    'mostNanoUsd }, now)\n    if (sums === undefined) throw new Undo(await refusalBy(db, window))',
    'mostNanoUsd }, now)\n    if (sums === undefined) return refusalBy(db, window)',
  ],
  'leaves a refused growth in the first windows': [
    'spend/holds.ts',
    'changed(db, window, change)\n    if (sums === undefined) throw new Undo(await refusalBy(db, window))',
    'changed(db, window, change)\n    if (sums === undefined) return refusalBy(db, window)',
  ],
  'counts a late cost besides the full amount': [
    'spend/holds.ts',
    'wasCounted ? costNanoUsd - hold.amount_nano_usd : costNanoUsd',
    'costNanoUsd',
  ],
  'frees what has expired': [
    'spend/holds.ts',
    '{ settledNanoUsd: hold.amount_nano_usd, heldNanoUsd: -hold.amount_nano_usd }',
    '{ settledNanoUsd: 0, heldNanoUsd: -hold.amount_nano_usd }',
  ],
  'counts a revived hold twice': ['spend/holds.ts', 'settledNanoUsd: wasCounted ? -before : 0', 'settledNanoUsd: 0'],
  'never frees what is left': [
    'spend/holds.ts',
    'heldNanoUsd: wasCounted ? 0 : -hold.amount_nano_usd',
    'heldNanoUsd: wasCounted ? 0 : -costNanoUsd',
  ],
  'forgets to renew a lease': [
    'spend/holds.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text
    ' + ${given.leaseMs}`,\n      }))',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source text
    ' - ${given.leaseMs}`,\n      }))',
  ],
  'holds the same twice': [
    'spend/holds.ts',
    'if (created === undefined) return growSpend',
    'if (created === undefined && amountNanoUsd < 0) return growSpend',
  ],
  'forgets a raise when it holds': ['spend/windows.ts', '} + spend_window.raised_nano_usd`', '}`'],
  'forgets a raise when a hold grows': ['spend/windows.ts', '} + raised_nano_usd`', '}`'],
  'raises a budget for every key': ['spend/budgets.ts', 'ofScopes(is, order.scopes)]))', 'is.lit(true)]))'],
  'forgets the widest windows of a reservation': [
    'spend/holds.ts',
    'for (const window of windows) {',
    'for (const window of windows.slice(0, 4)) {',
  ],
  'settles in one window of a day': [
    'spend/window-changes.ts',
    'const key = JSON.stringify([window.scope, window.window])',
    'const key = JSON.stringify([window.window])',
  ],
  'refuses what just fits': ['spend/windows.ts', 'excluded.held_nano_usd <= $', 'excluded.held_nano_usd < $'],
}

test('sqlite: ledger: each planted fault has its place', (t) => assertPlaces(t, FAULTS))

// That the property runs at all is a test of the ledger; that it would find these, of the property.
for (const [fault, change] of sampled(Object.entries(FAULTS), 11)) {
  test(`sqlite: ledger: the property finds out one that ${fault}`, async (t) => {
    const ledger = await ledgerInMemory(await copyOfStore(t, change))
    const property = fc.asyncProperty(rounds, (taken) => checkLedger(ledger, taken))
    const { failed, numRuns, errorInstance } = await fc.check(property, { numRuns: 100, endOnFailure: true })
    t.true(failed)
    t.log(`run ${numRuns}: ${messageOf(errorInstance).split('\n')[0]}`)
  })
}

test('sqlite: ledger: the property finds nothing in a true copy', async (t) => {
  const ledger = await ledgerInMemory(await copyOfStore(t))
  const property = fc.asyncProperty(rounds, (taken) => checkLedger(ledger, taken))
  await t.notThrowsAsync(() => fc.assert(property, { numRuns: isDrill ? 20 : 6 }))
})
