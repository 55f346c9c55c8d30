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
      `Calls of a ${tier} account that cost no credits, in its paid period, or in a UTC month where none is known. A cached reply counts as a call; a request without a reply does not.`,
    )

const creditsPerCall = z.int().min(0).max(MOST_CREDITS)

/** Quotas of the tiers of cloud mode. */
export const plans = z.strictObject({
  free: z
    .strictObject({
      included_calls: includedCalls('free', 10_000),
      credits_per_call: creditsPerCall
        .optional()
        .describe(
          'Credits for each further call. Unset: further calls are refused with 429 until the next month. 100,000 credits are 1 USD.',
        ),
    })
    .prefault({}),
  pro: z
    .strictObject({
      included_calls: includedCalls('pro', 100_000),
      credits_per_call: creditsPerCall
        .default(10)
        .describe(
          'Credits for each further call, taken from the balance; when it is too low, requests are answered 402.',
        ),
    })
    .prefault({}),
  team: z
    .strictObject({
      included_calls: includedCalls('team', 500_000),
      credits_per_call: creditsPerCall.default(10).describe('The same for team accounts.'),
    })
    .prefault({}),
})

/** Converts the plans to the ledger's form. */
export function plansFrom({ free, pro, team }: z.output<typeof plans>): Plans {
  return { free: toPlan(free), pro: toPlan(pro), team: toPlan(team) }
}

function toPlan(plan: { included_calls: number; credits_per_call?: number | undefined }) {
  return { includedCalls: plan.included_calls, creditsPerCall: plan.credits_per_call }
}
