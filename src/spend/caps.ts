import { BUDGET_NAMES, BUDGETS, type BudgetName } from '../core/money/budget-windows.ts'
import type { BudgetLimits, Cap, Caps, CapsOf } from '../core/money/caps.ts'
import { toNanoUsd } from '../core/money/usd.ts'
import type { KeyLimits } from '../core/ports/keys.ts'
import type { Caller } from '../core/request/caller.ts'

/** The operator's limits of conversations, agents and runs, as configured: USD, turns, tokens, milliseconds. */
type ConfiguredBudgets = { readonly [Name in BudgetName]?: number | undefined }

/** The operator's configured caps, in USD; unset: no cap. */
export interface ConfiguredCaps extends ConfiguredBudgets {
  readonly per_request?: number | undefined
  readonly per_day?: number | undefined
  readonly per_month?: number | undefined
  readonly user_per_day?: number | undefined
  readonly user_per_month?: number | undefined
  readonly instance_per_day?: number | undefined
  readonly instance_per_month?: number | undefined
}

/**
 * Returns the caps of each caller: on its key, on its user, and on the instance. A key's owner may set lower ones on
 * it; higher ones have no effect. The caps of a caller are computed once.
 */
export function createCapsOf(costs: ConfiguredCaps): CapsOf {
  const instance = capsOn('instance', costs.instance_per_day, costs.instance_per_month)
  const compute = ({ scope, userId, limits }: Caller): Caps => ({
    perRequestNanoUsd: toOptionalNanoUsd(least(costs.per_request, limits?.costPerRequest)),
    windows: [
      ...capsOnKey(`key:${scope}`, costs, limits),
      ...(userId === undefined ? [] : capsOn(`user:${userId}`, costs.user_per_day, costs.user_per_month)),
      ...instance,
    ],
    // A plugin's own calls are no conversation of a client.
    budgets: scope.startsWith(OF_PLUGIN) ? {} : budgetsOf(costs, limits),
  })
  const known = new WeakMap<Caller, Caps>()
  return (caller) => {
    const caps = known.get(caller) ?? compute(caller)
    known.set(caller, caps)
    return caps
  }
}

function capsOnKey(scope: string, costs: ConfiguredCaps, limits: KeyLimits = {}): Cap[] {
  return capsOn(scope, least(costs.per_day, limits.costPerDay), least(costs.per_month, limits.costPerMonth))
}

const SECOND_MS = 1000
/** Scopes of plugins that call models themselves. */
const OF_PLUGIN = 'plugin:'

function budgetsOf(costs: ConfiguredCaps, limits: KeyLimits = {}): BudgetLimits {
  const { secondsPerConversation: seconds } = limits
  const ofKey: ConfiguredBudgets = {
    per_conversation: limits.costPerConversation,
    per_agent: limits.costPerAgent,
    per_run: limits.costPerRun,
    turns_per_conversation: limits.turnsPerConversation,
    tokens_per_conversation: limits.tokensPerConversation,
    time_per_conversation: seconds === undefined ? undefined : seconds * SECOND_MS,
  }
  const budgets: { [Name in BudgetName]?: number } = {}
  for (const name of BUDGET_NAMES) {
    const limit = least(costs[name], ofKey[name])
    if (limit !== undefined) budgets[name] = BUDGETS[name].unit === 'usd' ? toNanoUsd(limit) : limit
  }
  return budgets
}

/** Returns the lower of two caps; either may be unset. */
function least(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)
}

function capsOn(scope: string, usdPerDay: number | undefined, usdPerMonth: number | undefined): Cap[] {
  const caps: Cap[] = []
  if (usdPerDay !== undefined) caps.push({ scope, period: 'day', limitNanoUsd: toNanoUsd(usdPerDay) })
  if (usdPerMonth !== undefined) caps.push({ scope, period: 'month', limitNanoUsd: toNanoUsd(usdPerMonth) })
  return caps
}

function toOptionalNanoUsd(usd: number | undefined): number | undefined {
  return usd === undefined ? undefined : toNanoUsd(usd)
}
