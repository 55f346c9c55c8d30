import { duration, z } from 'turnpike/plugin'
import { BUDGET_NAMES, BUDGETS, type BudgetName, toNanoUsd } from 'turnpike/plugin/spend'
import type { OwnCaps } from './windows.ts'

const usd = (what: string) =>
  z.number().min(0).max(1_000_000).optional().describe(`${what}, in USD. Tightens the operator’s cap. 0 blocks.`)

/** Options of the plugin. */
export const options = z.strictObject({
  per_request: usd('Cap on the cost of one request'),
  per_day: usd('Cap on a caller’s spend in a UTC day'),
  per_month: usd('Cap on a caller’s spend in a UTC month'),
  per_conversation: usd('Cap on the spend of a conversation'),
  per_agent: usd('Cap on the spend of each agent of a run, the main one and each sub-agent by its name'),
  per_run: usd('Cap on the spend of a run, a conversation with those of all its sub-agents'),
  turns_per_conversation: z
    .int()
    .min(0)
    .max(1_000_000)
    .optional()
    .describe('Cap on the requests of a conversation that a provider answers. Tightens the operator’s cap. 0 blocks.'),
  tokens_per_conversation: z
    .int()
    .min(0)
    .max(1_000_000_000_000)
    .optional()
    .describe(
      'Cap on the input and output tokens of a conversation, as billed. Tightens the operator’s cap. 0 blocks.',
    ),
  time_per_conversation: duration({ min: '1m', max: '30d' })
    .optional()
    .describe('Cap on the time of a conversation, from its first request, as `2h`. Tightens the operator’s cap.'),
  clamp: z
    .boolean()
    .default(true)
    .describe(
      'Whether to lower `max_tokens` to what fits if a reply cannot be metered while it is produced. Off: such requests are refused.',
    ),
  floor: z.int().min(1).default(64).describe('Fewest useful output tokens: a request that cannot get them is refused.'),
  refusal_status: z
    .literal([429, 402])
    .default(429)
    .describe(
      'HTTP status of a refusal. Coding agents other than Claude Code and Codex treat 429 as a short rate limit and retry; with 402 nearly all stop and show the message. Clients of Responses get 429 with the type `usage_limit_reached` in any case, and paid calls of agents 429, since 402 requests a payment there.',
    ),
  client_limits: z
    .boolean()
    .default(false)
    .describe(
      'Whether coding agents get the caller’s caps in the form in which they show the limits of an account: clients of Responses `x-codex-…` headers, which Codex shows in `/status`, and Claude Code `anthropic-ratelimit-unified-…` headers and refusals as 429 `billing_error`. Turn it on where callers use your credentials; a subscription of their own shows its limits in the same place.',
    ),
})

/** Options that are caps, which callers may tighten. */
export const CAP_NAMES = ['per_request', 'per_day', 'per_month', ...BUDGET_NAMES] as const

/** Values of these options. */
type CapOptions = { readonly [Name in (typeof CAP_NAMES)[number]]?: number | undefined }

/** Returns the caps of a pipeline: a caller may lower one of the operator's but never raise it. */
export function ownCaps(operators: CapOptions, effective: CapOptions): OwnCaps {
  const tighter = (name: keyof CapOptions): number | undefined => {
    const bounds = [operators[name], effective[name]].filter((bound) => bound !== undefined)
    return bounds.length === 0 ? undefined : Math.min(...bounds)
  }
  const inNanoUsd = (name: keyof CapOptions): number | undefined => {
    const usd = tighter(name)
    return usd === undefined ? undefined : toNanoUsd(usd)
  }
  const budgets: { [Name in BudgetName]?: number } = {}
  for (const name of BUDGET_NAMES) {
    const limit = BUDGETS[name].unit === 'usd' ? inNanoUsd(name) : tighter(name)
    if (limit !== undefined) budgets[name] = limit
  }
  const perRequestNanoUsd = inNanoUsd('per_request')
  return { perRequestNanoUsd, perDayNanoUsd: inNanoUsd('per_day'), perMonthNanoUsd: inNanoUsd('per_month'), budgets }
}
