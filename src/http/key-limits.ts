import { GatewayError } from '../core/errors.ts'
import type { KeyLimits } from '../core/ports/keys.ts'
import type { Target } from '../core/request/exchange.ts'
import { namedModels } from '../core/request/named-models.ts'
import type { RequestDocument } from '../core/request/request.ts'
import type { ResolvedPipeline } from '../pipeline/resolve.ts'

/** Limits that only lists of names and a rate are; every other one is a cap. */
const NO_CAPS = new Set(['requestsPerMinute', 'models', 'modules'])

/** Tests for a cap that a key's owner has set on it. */
export function isCapped(limits: KeyLimits | undefined): boolean {
  if (limits === undefined) return false
  for (const [name, limit] of Object.entries(limits)) if (limit !== undefined && !NO_CAPS.has(name)) return true
  return false
}

/**
 * Checks a pipeline against the plugins that a key may use. Default and locked steps of the operator are exempt: the
 * caller did not choose them. Throws `permission_error` that names the plugin.
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
 * Checks the models of a body against those that a key may use: the requested one, by its name or by all of its
 * targets, and each other model that the body names. Throws `permission_error`.
 */
export function assertModels(
  document: RequestDocument,
  targets: readonly Target[],
  limits: KeyLimits | undefined,
): void {
  const patterns = limits?.models
  if (patterns === undefined) return
  const isUsable = ({ provider, model }: Target) =>
    isAmong(patterns, model) || isAmong(patterns, `${provider}/${model}`)
  if (!isAmong(patterns, document.model) && !targets.every(isUsable)) throw refusal('model')
  const named = targets
    .flatMap((target) => namedModels(document, target).map((model) => ({ ...target, model })))
    .find((target) => !isUsable(target))?.model
  if (named !== undefined) throw refusal(`The model \`${named.slice(0, LONGEST_NAME)}\` in the body`)
}

const LONGEST_NAME = 100

function refusal(what: string): GatewayError {
  const words = `${what}: this key may not use it. Its owner has listed those that it may.`
  return new GatewayError('permission_error', words)
}

function isAmong(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern))
}
