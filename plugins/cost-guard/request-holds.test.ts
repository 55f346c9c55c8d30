import { setImmediate as nextTurn } from 'node:timers/promises'
import test from 'ava'
import fc from 'fast-check'
import { createMemoryLedger } from '../../test/cost-guard/memory-ledger.ts'
import type { AdmissionFacts } from './admission.ts'
import { isRefusal } from './refusal.ts'
import { NOTHING, RequestHolds } from './request-holds.ts'
import type { Budget, ConversationWindow } from './windows.ts'

const ESTIMATE = { inputNanoUsd: 1000, outputTokenNanoUsd: 10, inputTokens: 50 }
const FLOOR_TOKENS = 64
const FACTS: AdmissionFacts = {
  weigh: () => ESTIMATE,
  bySize: undefined,
  lastLeftNanoUsd: Number.POSITIVE_INFINITY,
  expectedTokens: 200,
  maxTokens: 1000,
  isMetered: false,
  clamp: { isOn: true, floorTokens: FLOOR_TOKENS },
}
type Name = ConversationWindow['budget']['name']

function windowOf(name: Name, limitNanoUsd: number): ConversationWindow {
  const budget = { name, conversation: 'conv_1', agent: undefined }
  return { scope: 'key:a', window: name, limitNanoUsd, isBudget: true, budget }
}

interface Limits {
  readonly nanoUsd: number
  readonly tokens: number
  readonly turns: number
}

/** Budget of one conversation, with limits of all units. */
const budgetOf = ({ nanoUsd, tokens, turns }: Limits): Budget => ({
  perRequestNanoUsd: undefined,
  windows: [windowOf('per_conversation', nanoUsd)],
  tokens: [windowOf('tokens_per_conversation', tokens)],
  turns: [windowOf('turns_per_conversation', turns)],
})

function windowsOf({ windows, tokens = [], turns = [] }: Budget) {
  return [...windows, ...tokens, ...turns]
}

const amount = fc.nat({ max: 1000 })
const turn = fc.record({
  facts: fc.record({
    expectedTokens: fc.integer({ min: 1, max: 600 }),
    maxTokens: fc.integer({ min: 1, max: 2000 }),
    isMetered: fc.boolean(),
  }),
  growth: fc.array(amount, { maxLength: 4 }),
  share: fc.nat({ max: 100 }),
})

test('request holds: turns at once never hold beyond a limit of any unit, and leave nothing held', async (t) => {
  const seen: Record<string, number> = {}
  const limits = fc.record({
    nanoUsd: fc.integer({ min: 0, max: 90_000 }),
    tokens: fc.integer({ min: 0, max: 6000 }),
    turns: fc.nat({ max: 9 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { maxLength: 12 }), limits, async (turns, limit) => {
      const ledger = createMemoryLedger(() => nextTurn())
      const budget = budgetOf(limit)
      const spent = { nanoUsd: 0, tokens: 0, turns: 0 }
      const assertWithin = () => {
        for (const window of windowsOf(budget)) {
          const { settledNanoUsd, heldNanoUsd } = ledger.sums(window)
          t.true(settledNanoUsd + heldNanoUsd <= window.limitNanoUsd, window.window)
        }
      }
      const runs = turns.map(async ({ facts, growth, share }, nth) => {
        const holds = new RequestHolds(ledger, String(nth), { budget, atMs: 0 })
        try {
          const { heldTokens } = await holds.admit({ ...FACTS, ...facts })
          t.true(holds.covers(ESTIMATE, Math.min(heldTokens, facts.maxTokens)))
        } catch (error) {
          if (!isRefusal(error)) throw error
          seen[error.code] = (seen[error.code] ?? 0) + 1
          return
        }
        seen.admitted = (seen.admitted ?? 0) + 1
        for (const tokens of growth) {
          const grown = await holds.grow(ESTIMATE, tokens)
          t.is(grown, holds.covers(ESTIMATE, tokens))
          assertWithin()
        }
        const { heldNanoUsd } = holds.money
        const used = {
          nanoUsd: Math.floor((heldNanoUsd * share) / 100),
          tokens: Math.floor((holds.heldTokens * share) / 100),
        }
        const charge = share === 0 ? NOTHING : used
        await holds.settle(charge)
        spent.nanoUsd += charge.nanoUsd
        spent.tokens += charge.tokens
        spent.turns += charge === NOTHING ? 0 : 1
      })
      await Promise.all(runs)
      await nextTurn()
      assertWithin()
      for (const window of windowsOf(budget)) t.is(ledger.sums(window).heldNanoUsd, 0, window.window)
      const settled = windowsOf(budget).map((window) => ledger.sums(window).settledNanoUsd)
      t.deepEqual(settled, Object.values(spent))
      await assertUsable(ledger, budget)
    }),
    { numRuns: 150 },
  )
  for (const outcome of [
    'admitted',
    'cost_limit_per_conversation',
    'token_limit_per_conversation',
    'turn_limit_per_conversation',
  ])
    t.true((seen[outcome] ?? 0) > 0, outcome)

  /** Asserts that a further turn is admitted exactly where the floor fits every limit. */
  async function assertUsable(ledger: ReturnType<typeof createMemoryLedger>, budget: Budget): Promise<void> {
    const [money, tokens, turns] = windowsOf(budget).map(
      (window) => window.limitNanoUsd - ledger.sums(window).settledNanoUsd,
    )
    const inputTokens = Math.ceil(ESTIMATE.inputTokens * 1.3) + 32
    const fits =
      (turns ?? 0) >= 1 &&
      (money ?? 0) >= ESTIMATE.inputNanoUsd + FLOOR_TOKENS * ESTIMATE.outputTokenNanoUsd &&
      (tokens ?? 0) >= inputTokens + FLOOR_TOKENS
    const last = new RequestHolds(ledger, 'last', { budget, atMs: 0 })
    const isAdmitted = await last.admit(FACTS).then(
      () => true,
      () => false,
    )
    t.is(isAdmitted, fits)
  }
})

test('request holds: a fault of the ledger leaves nothing held', async (t) => {
  for (const failing of [1, 2, 3]) {
    let calls = 0
    const ledger = createMemoryLedger()
    const budget = budgetOf({ nanoUsd: 1e6, tokens: 1e6, turns: 9 })
    const failed = {
      ...ledger,
      async reserve(hold: Parameters<typeof ledger.reserve>[0]) {
        const result = await ledger.reserve(hold)
        if (++calls === failing) throw new Error('no reply, yet it was executed')
        return result
      },
    }
    await t.throwsAsync(new RequestHolds(failed, 'a', { budget, atMs: 0 }).admit(FACTS))
    await nextTurn()
    for (const window of windowsOf(budget)) t.is(ledger.sums(window).heldNanoUsd, 0, `${failing} ${window.window}`)
  }
})
