import { GatewayError } from '../core/errors.ts'
import { suggest } from '../core/nearest.ts'
import { assertWithinClamps, type Clamps, effectiveOptions } from './options.ts'
import { parsePipeline, printPipeline, type Step } from './parse.ts'
import type { LoadedPlugin, PluginRegistry } from './registry.ts'

/** The operator's rails: the default pipeline, the locked plugins, and the names and options allowed to callers. */
export interface Rails {
  readonly default: string
  readonly locked: readonly string[]
  readonly allowed?: readonly string[] | undefined
  /** Plugins that are switched off, unless they are locked. */
  readonly off?: readonly string[]
  readonly clamps: Readonly<Record<string, Clamps>>
}

/** Returns the rails with further locked plugins. */
export function withLocked(rails: Rails, locked: readonly string[]): Rails {
  const more = locked.filter((name) => !rails.locked.includes(name))
  return more.length === 0 ? rails : { ...rails, locked: [...rails.locked, ...more] }
}

/**
 * Source of a pipeline. `default` is the operator's own, from the environment or the configuration; `own` that of an
 * internal request of the gateway.
 */
export type PipelineSource = 'header' | 'key' | 'default' | 'own'

/** One plugin of a resolved pipeline, with its effective options. */
export interface ResolvedStep {
  readonly plugin: LoadedPlugin
  readonly step: Step
  readonly effective: unknown
  readonly isLocked: boolean
}

/** A pipeline that can run. */
export interface ResolvedPipeline {
  readonly source: PipelineSource
  readonly steps: readonly ResolvedStep[]
  readonly printed: string
}

/**
 * Resolves a pipeline string of this source within the operator's rails.
 * Throws `invalid_request` that names the plugin or option, its position and the nearest valid name.
 */
export function resolvePipeline(
  text: string,
  source: PipelineSource,
  { registry, rails }: { registry: PluginRegistry; rails: Rails },
): ResolvedPipeline {
  const steps = parsePipeline(text)
  const resolved = resolverFor(source)(steps, { registry, rails })
  return { source, steps: resolved, printed: printPipeline(resolved.map(({ step }) => step)) }
}

function resolverFor(source: PipelineSource): (steps: readonly Step[], within: Resolving) => ResolvedStep[] {
  if (source === 'own') return resolveExactly
  return source === 'default' ? resolveOwn : resolveGiven
}

/** Resolves an internal request's pipeline, without locks: a locked cache would run inside its own model call. */
function resolveExactly(steps: readonly Step[], { registry, rails }: Resolving): ResolvedStep[] {
  return steps.filter(({ name }) => !isOff(name, rails)).map((step) => resolveStep(step, registry, false))
}

interface Resolving {
  readonly registry: PluginRegistry
  readonly rails: Rails
}

/**
 * Resolves the operator's own string, whose order applies to locked plugins too; locks that it does not name run innermost,
 * those that guard content outermost.
 */
function resolveOwn(steps: readonly Step[], { registry, rails }: Resolving): ResolvedStep[] {
  const missing = byGuarding(stepsMissingIn(steps, rails.locked), registry)
  const all = [...missing.guards, ...steps.filter(({ name }) => !isOff(name, rails)), ...missing.others]
  return all.map((step) => resolveStep(step, registry, rails.locked.includes(step.name)))
}

/** Resolves a caller's string, between the locked plugins and within the clamps. */
function resolveGiven(steps: readonly Step[], { registry, rails }: Resolving): ResolvedStep[] {
  const locked = lockedSteps(rails, registry)
  const chosen = steps.filter((step) => !locked.all.has(step.name))
  const repeats = steps.filter((step) => locked.all.has(step.name))
  for (const step of repeats) assertTightens(step, registry)
  const resolveLocked = (step: Step) => resolveStep(tightened(step, repeats), registry, true)
  return [
    ...locked.outer.map(resolveLocked),
    ...chosen.map((step) => {
      assertAllowed(step, registry, rails)
      const done = resolveStep(step, registry, false)
      assertWithinClamps(done, rails.clamps[step.name] ?? {})
      return done
    }),
    ...locked.inner.map(resolveLocked),
  ]
}

interface LockedSteps {
  readonly all: ReadonlySet<string>
  readonly outer: readonly Step[]
  readonly inner: readonly Step[]
}

/**
 * Returns the locked steps: a plugin's place in the operator's own pipeline determines whether it runs before or after a
 * caller's. Plugins that guard content run before: a caller's plugin may call other services.
 */
function lockedSteps({ locked, default: text }: Rails, registry: PluginRegistry): LockedSteps {
  const all = new Set(locked)
  const own = parsePipeline(text)
  const firstFree = own.findIndex((step) => !all.has(step.name))
  const leading = firstFree === -1 ? 0 : firstFree
  const later = own.slice(leading).filter((step) => all.has(step.name))
  const { guards, others } = byGuarding([...later, ...stepsMissingIn(own, locked)], registry)
  return { all, outer: [...guards, ...own.slice(0, leading)], inner: others }
}

function byGuarding(steps: readonly Step[], registry: PluginRegistry): { guards: Step[]; others: Step[] } {
  const isGuard = ({ name }: Step) => registry.get(name)?.definition.guardsContent === true
  return { guards: steps.filter(isGuard), others: steps.filter((step) => !isGuard(step)) }
}

function stepsMissingIn(steps: readonly Step[], locked: readonly string[]): Step[] {
  const missing = locked.filter((name) => !steps.some((step) => step.name === name))
  return missing.map((name) => ({ name, options: {}, position: 0 }))
}

/**
 * Checks a repeated locked plugin: repeating its name has no effect, and a caller may only tighten its options.
 * Throws `invalid_request` for any other option.
 */
function assertTightens(step: Step, registry: PluginRegistry): void {
  const tightening: readonly string[] = registry.get(step.name)?.definition.tightening ?? []
  if (Object.keys(step.options).every((name) => tightening.includes(name))) return
  throw new GatewayError(
    'invalid_request',
    `Plugin \`${step.name}\` at position ${step.position} of the pipeline is locked by the operator: its options cannot be changed.${tightening.length === 0 ? '' : ` It may be tightened by ${tightening.map((name) => `\`${name}\``).join(', ')}.`}`,
  )
}

/** Returns a locked step with a caller's tightened options. */
function tightened(locked: Step, repeats: readonly Step[]): Step {
  const own = repeats.find(({ name }) => name === locked.name)
  return own === undefined ? locked : { ...locked, options: { ...locked.options, ...own.options } }
}

function isOff(name: string, { off = [], locked }: Rails): boolean {
  return off.includes(name) && !locked.includes(name)
}

function assertAllowed(step: Step, registry: PluginRegistry, rails: Rails): void {
  const { allowed } = rails
  if (isOff(step.name, rails))
    throw new GatewayError(
      'invalid_request',
      `Plugin \`${step.name}\` at position ${step.position} of the pipeline is switched off by the operator.`,
    )
  if (allowed === undefined || allowed.includes(step.name) || registry.get(step.name) === undefined) return
  throw new GatewayError(
    'invalid_request',
    `Plugin \`${step.name}\` at position ${step.position} of the pipeline may not be named here.${suggest(step.name, allowed)}`,
  )
}

function resolveStep(step: Step, registry: PluginRegistry, isLocked: boolean): ResolvedStep {
  const plugin = registry.get(step.name)
  if (plugin === undefined) {
    throw new GatewayError(
      'invalid_request',
      `Unknown plugin \`${step.name}\` at position ${step.position} of the pipeline.${suggest(step.name, registry.names)}`,
    )
  }
  return { plugin, step, effective: effectiveOptions(plugin, step), isLocked }
}
