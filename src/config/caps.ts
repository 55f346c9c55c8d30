import type { Cap, CapsOf } from '../core/caps.ts'
import type { Config } from './schema.ts'

const NANO_USD = 1e9

/** The operator's caps: on each key, on each user who has keys, and on all of them together. */
export function capsFrom(costs: Config['costs']): CapsOf {
  const perRequestNanoUsd = costs.per_request === undefined ? undefined : toNanoUsd(costs.per_request)
  const instance = capsOn('instance', costs.instance_per_day, costs.instance_per_month)
  return ({ scope, userId }) => ({
    perRequestNanoUsd,
    windows: [
      ...capsOn(`key:${scope}`, costs.per_day, costs.per_month),
      ...(userId === undefined ? [] : capsOn(`user:${userId}`, costs.user_per_day, costs.user_per_month)),
      ...instance,
    ],
  })
}

function capsOn(scope: string, usdPerDay: number | undefined, usdPerMonth: number | undefined): Cap[] {
  const caps: Cap[] = []
  if (usdPerDay !== undefined) caps.push({ scope, period: 'day', limitNanoUsd: toNanoUsd(usdPerDay) })
  if (usdPerMonth !== undefined) caps.push({ scope, period: 'month', limitNanoUsd: toNanoUsd(usdPerMonth) })
  return caps
}

/** Rounded down: a cap is never larger than what was written. The product of a decimal may fall short by a hair. */
function toNanoUsd(usd: number): number {
  return Math.floor(usd * NANO_USD + 1e-3)
}
