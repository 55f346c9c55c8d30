import { setImmediate as nextTurn } from 'node:timers/promises'
import test from 'ava'
import fc from 'fast-check'
import { costOf } from '../../src/core/money/estimate.ts'
import { createMemoryLedger } from '../../test/cost-guard/memory-ledger.ts'
import { type AdmissionFacts, admit } from './admission.ts'
import { Hold } from './hold.ts'
import type { Budget, BudgetWindow } from './windows.ts'

const ESTIMATE = { inputNanoUsd: 1000, outputTokenNanoUsd: 10, inputTokens: 5 }
const DEFAULTS: AdmissionFacts = {
  weigh: () => ESTIMATE,
  bySize: undefined,
  lastLeftNanoUsd: Number.POSITIVE_INFINITY,
  expectedTokens: 800,
  maxTokens: 32_000,
  isMetered: false,
  clamp: { isOn: true, floorTokens: 64 },
}
const window = (period: 'day' | 'month', limitNanoUsd: number): BudgetWindow => ({
  scope: 'key:a',
  window: period,
  period,
  limitNanoUsd,
})
const budgetOf = (dayNanoUsd: number, perRequestNanoUsd?: number): Budget => ({
  perRequestNanoUsd,
  windows: [window('day', dayNanoUsd)],
})

/** Admits one request; returns its output limit and the tokens that are held. */
async function admitted(budget: Budget, facts: Partial<AdmissionFacts> = {}, ledger = createMemoryLedger(), id = 'a') {
  const hold = new Hold(ledger, id, { budget, atMs: 0 })
  const { maxTokens } = await admit(hold, { ...DEFAULTS, ...facts })
  return { maxTokens, heldTokens: (hold.heldNanoUsd - ESTIMATE.inputNanoUsd) / ESTIMATE.outputTokenNanoUsd }
}

const WORST = costOf(ESTIMATE, 32_000)
const cases: [
  claim: string,
  budget: Budget,
  facts: Partial<AdmissionFacts>,
  maxTokens: number | undefined,
  held: number,
][] = [
  ['with ample budget the worst case is held', budgetOf(10 * WORST), {}, undefined, 32_000],
  ['without ample budget, twice the usual', budgetOf(10 * WORST - 1), {}, 1600, 1600],
  ['near the limit, the usual', budgetOf(10 * costOf(ESTIMATE, 1600)), {}, 800, 800],
  ['at the limit, the remainder', budgetOf(costOf(ESTIMATE, 300)), {}, 300, 300],
  ['at the floor, the floor', budgetOf(costOf(ESTIMATE, 64)), {}, 64, 64],
  ['at the floor for one request, the floor', { perRequestNanoUsd: costOf(ESTIMATE, 64), windows: [] }, {}, 64, 64],
  [
    'a cap per request alone allows all that it covers',
    { perRequestNanoUsd: costOf(ESTIMATE, 5000), windows: [] },
    {},
    5000,
    5000,
  ],
  ['a small limit of the client’s own is unchanged', budgetOf(1e9), { maxTokens: 40 }, undefined, 40],
  ['a metered stream holds the usual, and is not bounded', budgetOf(1e9), { isMetered: true }, undefined, 800],
  ['a metered stream begins with the remainder', budgetOf(costOf(ESTIMATE, 100)), { isMetered: true }, undefined, 100],
  [
    'a metered stream is admitted without clamp as well',
    budgetOf(costOf(ESTIMATE, 100)),
    { isMetered: true, clamp: { isOn: false, floorTokens: 64 } },
    undefined,
    100,
  ],
  [
    'without clamp the worst case is held as long as it fits',
    budgetOf(WORST),
    { clamp: { isOn: false, floorTokens: 64 } },
    undefined,
    32_000,
  ],
]
for (const [claim, budget, facts, maxTokens, heldTokens] of cases) {
  test(`admission: ${claim}`, async (t) => t.deepEqual(await admitted(budget, facts), { maxTokens, heldTokens }))
}

const refusals: [claim: string, budget: Budget, facts: Partial<AdmissionFacts>, code: string][] = [
  ['less than the floor', budgetOf(costOf(ESTIMATE, 63)), {}, 'cost_limit_per_day'],
  ['less than the input', budgetOf(10), {}, 'cost_limit_per_day'],
  ['less than the floor for one request', budgetOf(1e9, costOf(ESTIMATE, 63)), {}, 'cost_limit_per_request'],
  [
    'less than the worst case, without clamp',
    budgetOf(WORST - 1),
    { clamp: { isOn: false, floorTokens: 64 } },
    'cost_limit_per_day',
  ],
  ['nothing', budgetOf(0), { isMetered: true }, 'cost_limit_per_day'],
]
for (const [claim, budget, facts, code] of refusals) {
  test(`admission: ${claim} is refused`, async (t) => {
    await t.throwsAsync(admitted(budget, facts), { code })
  })
}

const BY_SIZE = { inputNanoUsd: 4000, outputTokenNanoUsd: 10, inputTokens: 20 }
const WHOLE = costOf(BY_SIZE, 32_000)
const sized: [
  claim: string,
  budget: Budget,
  facts: Partial<AdmissionFacts>,
  isWeighed: boolean,
  heldNanoUsd: number,
][] = [
  ['where 24 more fit, the estimate by size is held', budgetOf(25 * WHOLE), {}, false, WHOLE],
  ['a metered stream holds the usual of it', budgetOf(1e9), { isMetered: true }, false, costOf(BY_SIZE, 800)],
  ['where they do not fit, the request is weighed', budgetOf(25 * WHOLE - 1), {}, true, WORST],
  ['where they did not fit before, it is weighed at once', budgetOf(1e9), { lastLeftNanoUsd: WHOLE }, true, WORST],
  [
    'a cap per request that only the weight fits weighs it',
    budgetOf(1e9, WHOLE - 1),
    { clamp: { isOn: false, floorTokens: 64 } },
    true,
    WORST,
  ],
]
for (const [claim, budget, facts, isWeighed, heldNanoUsd] of sized) {
  test(`admission of a large request: ${claim}`, async (t) => {
    let weighed = 0
    const weigh = () => {
      weighed++
      return ESTIMATE
    }
    const hold = new Hold(createMemoryLedger(), 'a', { budget, atMs: 0 })
    const { estimate } = await admit(hold, { ...DEFAULTS, bySize: BY_SIZE, ...facts, weigh })
    t.deepEqual([weighed > 0, hold.heldNanoUsd], [isWeighed, heldNanoUsd])
    t.is(estimate, isWeighed ? ESTIMATE : BY_SIZE)
  })
}

test('admission: of several caps the smallest decides, not the floor', async (t) => {
  const windows = [window('day', costOf(ESTIMATE, 700)), window('month', costOf(ESTIMATE, 500))]
  const budget = { perRequestNanoUsd: costOf(ESTIMATE, 900), windows }
  t.deepEqual(await admitted(budget), { maxTokens: 500, heldTokens: 500 })
})

test('admission: a burst does not hold a whole window', async (t) => {
  const ledger = createMemoryLedger(() => nextTurn())
  const budget = budgetOf(30 * WORST)
  const burst = await Promise.allSettled(
    Array.from({ length: 200 }, (_, index) => admitted(budget, {}, ledger, `r${index}`)),
  )
  t.is(burst.filter(({ status }) => status === 'rejected').length, 0)
  t.is(burst.filter((one) => one.status === 'fulfilled' && one.value.maxTokens === undefined).length, 21)
})

test('admission: a ledger failure leaves no hold', async (t) => {
  let isDown = true
  const ledger = createMemoryLedger()
  const failing = {
    ...ledger,
    async reserve(hold: Parameters<typeof ledger.reserve>[0]) {
      const result = await ledger.reserve(hold)
      if (isDown) throw new Error('no reply, yet it was executed')
      return result
    },
  }
  await t.throwsAsync(admitted(budgetOf(1e9), {}, failing))
  isDown = false
  t.deepEqual(ledger.sums(window('day', 0)), { settledNanoUsd: 0, heldNanoUsd: 0 })
})

test('admission: never holds beyond a limit, lowers only what it holds, refuses only below the floor', async (t) => {
  const facts = fc.record({
    expectedTokens: fc.integer({ min: 1, max: 3000 }),
    maxTokens: fc.integer({ min: 1, max: 40_000 }),
    isMetered: fc.boolean(),
    clamp: fc.record({ isOn: fc.boolean(), floorTokens: fc.integer({ min: 1, max: 200 }) }),
    bySize: fc.option(fc.constant({ inputNanoUsd: 4000, outputTokenNanoUsd: 15, inputTokens: 20 }), { nil: undefined }),
    lastLeftNanoUsd: fc.constantFrom(0, 500_000, Number.POSITIVE_INFINITY),
  })
  const request = fc.tuple(facts, fc.option(fc.integer({ min: 0, max: 500_000 }), { nil: undefined }))
  let refused = 0
  let lowered = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(request, { maxLength: 12 }),
      fc.integer({ min: 0, max: 2_000_000 }),
      fc.integer({ min: 0, max: 2_000_000 }),
      async (requests, day, month) => {
        const ledger = createMemoryLedger(() => nextTurn())
        const windows = [window('day', day), window('month', month)]
        await Promise.all(
          requests.map(async ([given, perRequestNanoUsd], index) => {
            const all = { ...given, weigh: () => ESTIMATE }
            const hold = new Hold(ledger, String(index), { budget: { perRequestNanoUsd, windows }, atMs: 0 })
            try {
              const { maxTokens } = await admit(hold, all)
              t.true(hold.heldNanoUsd <= (perRequestNanoUsd ?? Number.POSITIVE_INFINITY))
              if (maxTokens === undefined)
                t.true(given.isMetered || hold.heldNanoUsd >= costOf(ESTIMATE, given.maxTokens))
              else {
                lowered++
                t.true(given.clamp.isOn && !given.isMetered && maxTokens < given.maxTokens)
                t.true(maxTokens >= Math.min(given.clamp.floorTokens, given.maxTokens))
                t.is(hold.heldNanoUsd, costOf(ESTIMATE, maxTokens))
              }
            } catch (error) {
              refused++
              const { limit, spent, estimated } = (error as { fields: Record<'limit' | 'spent' | 'estimated', number> })
                .fields
              t.true(spent + estimated > limit)
            }
            for (const { window: name, scope, limitNanoUsd } of windows)
              t.true(ledger.sums({ scope, window: name }).heldNanoUsd <= limitNanoUsd)
          }),
        )
      },
    ),
    { numRuns: 200 },
  )
  t.true(refused > 0 && lowered > 0)
})
