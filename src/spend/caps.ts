import { BUDGET_NAMES, BUDGETS, type BudgetName } from '../core/money/budget-windows.ts'
import type { BudgetLimits, Cap, Caps, CapsOf } from '../core/money/caps.ts'
import { toNanoUsd } from '../core/money/usd.ts'
import type { KeyLimits } from '../core/ports/keys.ts'
import type { Caller } from '../core/request/caller.ts'
import { NO_TAGS } from '../core/request/tags.ts'

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

/** Lists of tags whose caps are kept for a caller. */
const MOST_LISTS_OF_TAGS = 16

/**
 * Returns the caps of each request: on its key, its person, its team, its tags, and the instance. A key's owner may set lower
 * ones on it; higher ones have no effect. The caps of a caller are computed once, and again only for tags that have some.
 */
export function createCapsOf(costs: ConfiguredCaps): CapsOf {
  const known = new WeakMap<Caller, CallerCaps>()
  return ({ caller, tags }) => {
    const ofCaller = known.get(caller) ?? { untagged: compute(costs, caller, NO_TAGS), tagged: new Map() }
    known.set(caller, ofCaller)
    return hasLimits(caller, tags) ? tagged(ofCaller, tags, () => compute(costs, caller, tags)) : ofCaller.untagged
  }
}

/** Caps of a caller that were computed. */
interface CallerCaps {
  readonly untagged: Caps
  /** By the list of tags. */
  readonly tagged: Map<string, Caps>
}

function hasLimits({ tagLimits }: Caller, tags: readonly string[]): boolean {
  return tagLimits !== undefined && tags.some((tag) => Object.hasOwn(tagLimits, tag))
}

function tagged({ tagged: known }: CallerCaps, tags: readonly string[], compute: () => Caps): Caps {
  const key = tags.join()
  const caps = known.get(key) ?? compute()
  if (known.size >= MOST_LISTS_OF_TAGS) known.clear()
  known.set(key, caps)
  return caps
}

function compute(costs: ConfiguredCaps, caller: Caller, tags: readonly string[]): Caps {
  const { scope, limits } = caller
  return {
    perRequestNanoUsd: toOptionalNanoUsd(least(costs.per_request, limits?.costPerRequest)),
    windows: [
      ...capsOn(`key:${scope}`, lower({ costPerDay: costs.per_day, costPerMonth: costs.per_month }, limits)),
      ...capsOnOwners(costs, caller),
      ...capsOnTags(caller, tags),
      ...capsOn('instance', { costPerDay: costs.instance_per_day, costPerMonth: costs.instance_per_month }),
    ],
    // A plugin's own calls are no conversation of a client.
    budgets: scope.startsWith(OF_PLUGIN) ? {} : budgetsOf(costs, limits),
  }
}

/** Limits of a window of the calendar, in USD. */
type CalendarLimits = Pick<KeyLimits, 'costPerDay' | 'costPerMonth'>

function capsOnOwners(costs: ConfiguredCaps, { userId, personLimits, teamId, teamLimits }: Caller): Cap[] {
  const operators = { costPerDay: costs.user_per_day, costPerMonth: costs.user_per_month }
  return [
    ...(userId === undefined ? [] : capsOn(`user:${userId}`, lower(operators, personLimits))),
    ...(teamId === undefined ? [] : capsOn(`team:${teamId}`, teamLimits)),
  ]
}

function capsOnTags({ tagLimits = {} }: Caller, tags: readonly string[]): Cap[] {
  return tags.flatMap((tag) => (Object.hasOwn(tagLimits, tag) ? capsOn(`tag:${tag}`, tagLimits[tag]) : []))
}

/** Returns the lower of each pair of limits. */
function lower(one: CalendarLimits, other: CalendarLimits = {}): CalendarLimits {
  return {
    costPerDay: least(one.costPerDay, other.costPerDay),
    costPerMonth: least(one.costPerMonth, other.costPerMonth),
  }
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

function capsOn(scope: string, { costPerDay, costPerMonth }: CalendarLimits = {}): Cap[] {
  const caps: Cap[] = []
  if (costPerDay !== undefined) caps.push({ scope, period: 'day', limitNanoUsd: toNanoUsd(costPerDay) })
  if (costPerMonth !== undefined) caps.push({ scope, period: 'month', limitNanoUsd: toNanoUsd(costPerMonth) })
  return caps
}

function toOptionalNanoUsd(usd: number | undefined): number | undefined {
  return usd === undefined ? undefined : toNanoUsd(usd)
}
