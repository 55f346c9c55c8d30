import { GatewayError } from '../core/errors.ts'
import type { KeyLimits } from '../core/ports/keys.ts'
import type { Caller } from '../core/request/caller.ts'
import type { Target } from '../core/request/exchange.ts'
import { namedModels } from '../core/request/named-models.ts'
import type { RequestDocument } from '../core/request/request.ts'
import { NO_TAGS } from '../core/request/tags.ts'
import type { ResolvedPipeline } from '../pipeline/resolve.ts'

/** The limits of a caller. */
export type LimitedCaller = Pick<Caller, 'limits' | 'personLimits' | 'teamLimits' | 'tags' | 'tagLimits'>

/** Limits that only lists of names and a rate are; every other one is a cap. */
const NO_CAPS = new Set(['requestsPerMinute', 'models', 'modules'])

/** Subjects of limits, the narrowest first, as messages name them. */
const SUBJECTS = [
  { limits: 'limits', words: 'this key', setBy: 'Its owner has' },
  { limits: 'personLimits', words: 'this key’s owner', setBy: 'The operator has' },
  { limits: 'teamLimits', words: 'this key’s team', setBy: 'The operator has' },
] as const

/** Tests for a limit of any kind, on the key, its person, its team or one of its tags. */
export function isLimited({ limits, personLimits, teamLimits, tags = [], tagLimits = {} }: LimitedCaller): boolean {
  return (limits ?? personLimits ?? teamLimits) !== undefined || tags.some((tag) => Object.hasOwn(tagLimits, tag))
}

/** Tests for a cap on a caller's key, person or team, or on a tag of its request; default: the tags of its key. */
export function isCapped(caller: LimitedCaller, tags = caller.tags ?? NO_TAGS): boolean {
  for (const { limits } of SUBJECTS) if (hasCap(caller[limits])) return true
  const { tagLimits } = caller
  return tagLimits !== undefined && tags.some((tag) => Object.hasOwn(tagLimits, tag) && hasCap(tagLimits[tag]))
}

function hasCap(limits: KeyLimits | undefined): boolean {
  if (limits === undefined) return false
  for (const [name, limit] of Object.entries(limits)) if (limit !== undefined && !NO_CAPS.has(name)) return true
  return false
}

/**
 * Checks a pipeline against the plugins that a caller's key, person and team may use. Default and locked steps of the
 * operator are exempt: the caller did not choose them. Throws `permission_error` that names the plugin.
 */
export function assertModules({ steps, source }: ResolvedPipeline, caller: LimitedCaller): void {
  if (source === 'default' || !isLimited(caller)) return
  for (const subject of SUBJECTS) {
    const modules = caller[subject.limits]?.modules
    if (modules === undefined) continue
    const stranger = steps.find(({ step, isLocked }) => !isLocked && !modules.includes(step.name))
    if (stranger === undefined) continue
    const words = `${capitalized(subject.words)} may not use the module \`${stranger.step.name}\`.`
    throw new GatewayError('permission_error', words)
  }
}

/**
 * Checks the models of a body against those that a caller's key, person and team may use: the requested one, by its name
 * or by all of its targets, and each other model that the body names. Throws `permission_error`.
 */
export function assertModels(document: RequestDocument, targets: readonly Target[], caller: LimitedCaller): void {
  if (!isLimited(caller)) return
  for (const subject of SUBJECTS) {
    const patterns = caller[subject.limits]?.models
    const refused = patterns && firstUnusable(document, targets, patterns)
    if (refused === undefined) continue
    const words = `${refused}: ${subject.words} may not use it. ${subject.setBy} listed those that it may.`
    throw new GatewayError('permission_error', words)
  }
}

const LONGEST_NAME = 100

/** Returns the words for the first model that none of these patterns allows. */
function firstUnusable(
  document: RequestDocument,
  targets: readonly Target[],
  patterns: readonly string[],
): string | undefined {
  const isUsable = ({ provider, model }: Target) =>
    isAmong(patterns, model) || isAmong(patterns, `${provider}/${model}`)
  if (!isAmong(patterns, document.model) && !targets.every(isUsable)) return 'model'
  const named = targets
    .flatMap((target) => namedModels(document, target).map((model) => ({ ...target, model })))
    .find((target) => !isUsable(target))?.model
  return named === undefined ? undefined : `The model \`${named.slice(0, LONGEST_NAME)}\` in the body`
}

function isAmong(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern))
}

function capitalized(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}
