import { GatewayError } from '../core/errors.ts'
import type { Target } from '../core/exchange.ts'
import type { KeyLimits } from '../core/keys.ts'
import type { ResolvedPipeline } from '../pipeline/resolve.ts'

/** The module that keeps caps. */
const GUARD = ['cost-guard'] as const
const NONE: readonly string[] = []

/** The modules that a key's own limits lock: `cost-guard`, when its owner has set a cap on it. */
export function lockedByLimits({ costPerRequest, costPerDay, costPerMonth }: KeyLimits = {}): readonly string[] {
  return [costPerRequest, costPerDay, costPerMonth].some((cap) => cap !== undefined) ? GUARD : NONE
}

/**
 * Checks a pipeline against what the owner of a key has set on it. What the operator runs by default, or locks, is not the
 * caller's choice. Throws `permission_error` that names the module.
 */
export function assertModules({ steps, source }: ResolvedPipeline, limits: KeyLimits | undefined): void {
  if (limits === undefined) return
  const { modules } = limits
  const stranger =
    source === 'default' || modules === undefined
      ? undefined
      : steps.find(({ step, isLocked }) => !isLocked && !modules.includes(step.name))
  if (stranger !== undefined)
    throw new GatewayError('permission_error', `This key may not use the module \`${stranger.step.name}\`.`)
}

/**
 * Checks a model against those that a key may ask: by the name that is asked for, or by all that it leads to. Throws
 * `permission_error`.
 */
export function assertModel(model: string, targets: readonly Target[], limits: KeyLimits | undefined): void {
  const patterns = limits?.models
  if (patterns === undefined || isAmong(patterns, model)) return
  if (targets.every((to) => isAmong(patterns, to.model) || isAmong(patterns, `${to.provider}/${to.model}`))) return
  throw new GatewayError('permission_error', 'model: this key may not use it. Its owner has listed those that it may.')
}

function isAmong(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern))
}
