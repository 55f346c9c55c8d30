import type { Config } from '../../config/schema.ts'
import { toNanoUsd, toUsd } from '../../core/money/usd.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { PluginRegistry } from '../../pipeline/registry.ts'
import { resolvePipeline } from '../../pipeline/resolve.ts'
import type { SqlStore } from '../../stores/sql/store.ts'
import { type ExplainedStep, explainStep } from './explain-step.ts'

/** Input of `effectsOf`. */
export interface EffectParts {
  readonly registry: PluginRegistry
  readonly database: Pick<SqlStore, 'run'>
  readonly clock: Clock
}

/** A caller whose spending has reached a cap. */
interface OverCap {
  readonly scope: string
  readonly spentUsd: number
}

/** Effects of a change, for its preview. */
export interface Effects {
  readonly before: unknown
  readonly after: unknown
  /** Pipeline of requests that name none, before and after. */
  readonly pipelines?: { readonly before: Explained; readonly after: Explained }
  /** Targets of a model name, before and after. */
  readonly targets?: { readonly before: readonly string[]; readonly after: readonly string[] }
  /** Callers that a new cap would refuse now. */
  readonly over?: { readonly callers: readonly OverCap[]; readonly isComplete: boolean }
}

interface Explained {
  readonly printed: string
  readonly steps: readonly ExplainedStep[]
}

const MOST_OVER = 20
const DAY_LENGTH = '2026-11-23'.length
const MONTH_LENGTH = '2026-11'.length
/** Caps on windows of the calendar, with the form of their scopes. */
const WINDOW_CAPS: Readonly<Record<string, { readonly scope: string; readonly period: 'day' | 'month' }>> = {
  'costs.per_day': { scope: 'key:', period: 'day' },
  'costs.per_month': { scope: 'key:', period: 'month' },
  'costs.user_per_day': { scope: 'user:', period: 'day' },
  'costs.user_per_month': { scope: 'user:', period: 'month' },
  'costs.instance_per_day': { scope: 'instance', period: 'day' },
  'costs.instance_per_month': { scope: 'instance', period: 'month' },
}

/** Returns the effects of a change of one option. */
export async function effectsOf(
  name: string,
  { before, after }: { before: Config; after: Config },
  options: EffectParts,
): Promise<Effects> {
  const values = { before: valueAt(before, name) ?? null, after: valueAt(after, name) ?? null }
  // A cap locks the plugin that enforces it, so caps change pipelines too.
  const pipelines = { before: explained(before, options), after: explained(after, options) }
  const hasOther = JSON.stringify(pipelines.before) !== JSON.stringify(pipelines.after)
  const isAlias = name.startsWith('models.')
  return {
    ...values,
    ...((name.startsWith('pipeline.') || hasOther) && { pipelines }),
    ...(isAlias && { targets: { before: targetsOf(before, name), after: targetsOf(after, name) } }),
    ...(await overOf(name, values.after, options)),
  }
}

function valueAt(config: Config, name: string): unknown {
  const at = name.indexOf('.')
  const section = (config as unknown as Readonly<Record<string, unknown>>)[name.slice(0, at)]
  return (section as Readonly<Record<string, unknown>> | undefined)?.[name.slice(at + 1)]
}

function explained({ pipeline }: Config, { registry }: EffectParts): Explained {
  const { printed, steps } = resolvePipeline(pipeline.default, 'default', { registry, rails: pipeline })
  return { printed, steps: steps.map((step) => explainStep(step, 'default', pipeline)) }
}

function targetsOf({ models }: Config, name: string): readonly string[] {
  return models[name.slice('models.'.length)] ?? []
}

async function overOf(
  name: string,
  limitUsd: unknown,
  { database, clock }: EffectParts,
): Promise<Pick<Effects, 'over'>> {
  const cap = WINDOW_CAPS[name]
  if (cap === undefined || typeof limitUsd !== 'number') return {}
  const today = new Date(clock.nowMs()).toISOString()
  const window = cap.period === 'day' ? `d:${today.slice(0, DAY_LENGTH)}` : `m:${today.slice(0, MONTH_LENGTH)}`
  const query = { window, scope: cap.scope, limitNanoUsd: toNanoUsd(limitUsd), most: MOST_OVER + 1 }
  const rows = await database.run('spend.over', query)
  const callers = rows.map(({ scope, nanoUsd }) => ({ scope, spentUsd: toUsd(nanoUsd) }))
  return { over: { callers: callers.slice(0, MOST_OVER), isComplete: callers.length <= MOST_OVER } }
}
