import { BUDGET_NAMES } from '../core/money/budget-windows.ts'
import type { Config } from './schema.ts'

/** Plugin that enforces caps: locked where the operator, or a key's owner, has set one. */
export const CAP_GUARD = 'cost-guard'
/** Options of the plugin that are caps. */
const GUARD_CAPS = ['per_request', 'per_day', 'per_month', ...BUDGET_NAMES]

/**
 * Adds `cost-guard` to the locked plugins when the configuration sets a cap, in `costs` or as an option of the plugin:
 * a cap that callers can leave out is void.
 */
export function withGuardLocked(config: Config): Config {
  const { costs, pipeline, plugins } = config
  const guard = plugins[CAP_GUARD] ?? {}
  const isCapped =
    Object.values(costs).some((cap) => cap !== undefined) || GUARD_CAPS.some((name) => guard[name] !== undefined)
  if (!isCapped || pipeline.locked.includes(CAP_GUARD)) return config
  return { ...config, pipeline: { ...pipeline, locked: [...pipeline.locked, CAP_GUARD] } }
}
