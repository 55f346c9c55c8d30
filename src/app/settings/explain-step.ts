import type { z } from 'zod'
import { listOptions } from '../../config/options.ts'
import { optionSchemas } from '../../pipeline/registry.ts'
import type { PipelineSource, Rails, ResolvedStep } from '../../pipeline/resolve.ts'

/** Option of a step, with its source. */
export interface ExplainedOption {
  readonly name: string
  readonly value: unknown
  readonly setBy: string
  readonly callerMay: string
}

/** Step of a resolved pipeline, in words. */
export interface ExplainedStep {
  readonly name: string
  readonly summary: string
  readonly isLocked: boolean
  readonly onError: string
  readonly options: ExplainedOption[]
}

/** Explains a step of a pipeline of this source; secrets are hidden. */
export function explainStep(
  { plugin, step, effective, isLocked }: ResolvedStep,
  source: PipelineSource,
  { clamps, allowed }: Rails,
): ExplainedStep {
  const { definition, configured } = plugin
  const bounds = clamps[plugin.name] ?? {}
  const isNameable = !isLocked && (allowed === undefined || allowed.includes(plugin.name))
  const setBy = (name: string) => {
    if (name in step.options) return source === 'default' || isLocked ? 'pipeline' : source
    return name in configured ? 'configuration' : 'default'
  }
  const callerMay = (name: string) => {
    if (!isNameable || !definition.perRequest.includes(name as never)) return 'no'
    return name in bounds ? `within ${JSON.stringify(bounds[name])}` : 'yes'
  }
  const values = effective as Record<string, unknown>
  const options = Object.entries(optionSchemas(definition)).map(([name, schema]) => ({
    name,
    value: values[name] !== undefined && isSecret(schema) ? '[hidden]' : values[name],
    setBy: setBy(name),
    callerMay: callerMay(name),
  }))
  return { name: plugin.name, summary: definition.summary, isLocked, onError: definition.onError, options }
}

/** Tests for an option that its plugin marks as secret, as the configuration does: `.meta({ secret: true })`. */
function isSecret(schema: z.ZodType): boolean {
  return listOptions(schema).some(({ secret }) => secret === true)
}
