import { z } from 'zod'
import type { Plans } from '../core/money/plans.ts'

const MOST_CALLS = 1_000_000_000_000
const MOST_CREDITS = 1_000_000_000

const includedCalls = (tier: string, calls: number) =>
  z
    .int()
    .min(0)
    .max(MOST_CALLS)
    .default(calls)
    .describe(
      `Calls of a ${tier} account that cost no credits, in its paid period, or in a UTC month where none is known. An answer from a cache is a call too; a request without an answer is none.`,
    )

const creditsPerCall = z.int().min(0).max(MOST_CREDITS)

/** What the tiers of cloud mode include. */
export const plans = z.strictObject({
  free: z
    .strictObject({
      included_calls: includedCalls('free', 10_000),
      credits_per_call: creditsPerCall
        .optional()
        .describe(
          'Credits for each further call. Unset: there are none until the next month, and requests are answered 429. 100,000 credits are 1 USD.',
        ),
    })
    .prefault({}),
  pro: z
    .strictObject({
      included_calls: includedCalls('pro', 100_000),
      credits_per_call: creditsPerCall
        .default(10)
        .describe('Credits for each further call, taken from the balance; without enough, requests are answered 402.'),
    })
    .prefault({}),
  team: z
    .strictObject({
      included_calls: includedCalls('team', 500_000),
      credits_per_call: creditsPerCall.default(10).describe('The same for team accounts.'),
    })
    .prefault({}),
})

/** The plans in the words of the ledger. */
export function plansFrom({ free, pro, team }: z.output<typeof plans>): Plans {
  return { free: toPlan(free), pro: toPlan(pro), team: toPlan(team) }
}

function toPlan(plan: { included_calls: number; credits_per_call?: number | undefined }) {
  return { includedCalls: plan.included_calls, creditsPerCall: plan.credits_per_call }
}
