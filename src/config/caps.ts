import type { Cap, CapsOf } from '../core/money/caps.ts'
import type { KeyLimits } from '../core/ports/keys.ts'
import type { Config } from './schema.ts'

const NANO_USD = 1e9
/** The module that keeps caps. */
const GUARD = 'cost-guard'
/** Its options that are caps. */
const GUARD_CAPS = ['per_request', 'per_day', 'per_month']

/**
 * The configuration with `cost-guard` among the locked modules when it sets a cap, in `costs` or as an option of the
 * module: a cap that any caller can leave out is none.
 */
export function withGuardLocked(config: Config): Config {
  const { costs, pipeline, plugins } = config
  const guard = plugins[GUARD] ?? {}
  const isCapped =
    Object.values(costs).some((cap) => cap !== undefined) || GUARD_CAPS.some((name) => guard[name] !== undefined)
  if (!isCapped || pipeline.locked.includes(GUARD)) return config
  return { ...config, pipeline: { ...pipeline, locked: [...pipeline.locked, GUARD] } }
}

/**
 * The operator's caps: on each key, on each user who has keys, and on all of them together. The owner of a key may have
 * set lower ones on it; higher ones change nothing.
 */
export function capsFrom(costs: Config['costs']): CapsOf {
  const instance = capsOn('instance', costs.instance_per_day, costs.instance_per_month)
  return ({ scope, userId, limits }) => ({
    perRequestNanoUsd: toOptionalNanoUsd(least(costs.per_request, limits?.costPerRequest)),
    windows: [
      ...capsOnKey(`key:${scope}`, costs, limits),
      ...(userId === undefined ? [] : capsOn(`user:${userId}`, costs.user_per_day, costs.user_per_month)),
      ...instance,
    ],
  })
}

function capsOnKey(scope: string, costs: Config['costs'], limits: KeyLimits = {}): Cap[] {
  return capsOn(scope, least(costs.per_day, limits.costPerDay), least(costs.per_month, limits.costPerMonth))
}

/** The lower of two, of which either may be unset. */
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

/** Rounded down: a cap is never larger than what was written. The product of a decimal may fall short by a hair. */
function toNanoUsd(usd: number): number {
  return Math.floor(usd * NANO_USD + 1e-3)
}
