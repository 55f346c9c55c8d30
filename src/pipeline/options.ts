import { GatewayError } from '../core/errors.ts'
import { suggest } from '../core/nearest.ts'
import { PARSED_ONCE } from '../core/parsed-once.ts'
import { explain } from '../core/request/message.ts'
import { PluginError } from './load.ts'
import type { Step } from './parse.ts'
import { type LoadedPlugin, optionSchemas } from './registry.ts'

/** Bounds of one option's value for callers, in the option's own notation. */
export interface Clamp {
  readonly min?: unknown
  readonly max?: unknown
  readonly one_of?: readonly unknown[] | undefined
}

/** The clamps of one plugin, by option. */
export type Clamps = Readonly<Record<string, Clamp>>

/**
 * Returns the effective options of a step: the operator's, overridden by the pipeline string's.
 * Throws `invalid_request` that names the option, the expected value and the step's position.
 */
export function effectiveOptions(plugin: LoadedPlugin, step: Step): unknown {
  const raw: Record<string, unknown> = { ...plugin.configured }
  for (const [name, text] of Object.entries(step.options)) {
    assertPerRequest(plugin, step, name)
    raw[name] = readValue(plugin, name, text)
  }
  const parsed = plugin.definition.options.safeParse(raw, PARSED_ONCE)
  if (!parsed.success) throw refusal(step, `${explain(parsed.error)}.`)
  return parsed.data
}

/**
 * Throws `invalid_request` when a caller's option is outside its clamp. A value that cannot be compared is refused: the
 * safe error is a clamp that refuses too much.
 */
export function assertWithinClamps(resolved: Clamped, clamps: Clamps): void {
  const { plugin, step } = resolved
  for (const [name, text] of Object.entries(step.options)) {
    const clamp = clamps[name]
    if (clamp === undefined) continue
    // An object schema's output is an object; the value is taken from it, as the plugin will see it.
    const value = (resolved.effective as Record<string, unknown>)[name]
    const output = (bound: unknown) => outputOf(plugin, name, bound)
    if (clamp.one_of !== undefined && !clamp.one_of.some((allowed) => output(allowed) === value)) {
      throw refusal(
        step,
        `\`${name}\`: expected one of ${clamp.one_of.map((allowed) => `\`${allowed}\``).join(', ')}, got \`${text}\`.`,
      )
    }
    if (clamp.max !== undefined && !(Number(value) <= Number(output(clamp.max)))) {
      throw refusal(step, `\`${name}\`: expected at most \`${clamp.max}\`, got \`${text}\`.`)
    }
    if (clamp.min !== undefined && !(Number(value) >= Number(output(clamp.min)))) {
      throw refusal(step, `\`${name}\`: expected at least \`${clamp.min}\`, got \`${text}\`.`)
    }
  }
}

/** Throws `PluginError` when a clamp names an option that callers cannot set: probably a mistyped one. */
export function assertClampsFit(plugin: LoadedPlugin, clamps: Clamps): void {
  const settable: readonly string[] = plugin.definition.perRequest
  const stray = Object.keys(clamps).find((name) => !settable.includes(name))
  if (stray === undefined) return
  throw new PluginError(
    `\`pipeline.clamps.${plugin.name}\` names \`${stray}\`, which callers cannot set.${suggest(stray, settable)}`,
    { isConfiguration: true },
  )
}

/** A step with the options it would run with. */
interface Clamped {
  readonly plugin: LoadedPlugin
  readonly step: Step
  readonly effective: unknown
}

function assertPerRequest(plugin: LoadedPlugin, step: Step, name: string): void {
  const settable: readonly string[] = plugin.definition.perRequest
  if (settable.includes(name)) return
  throw refusal(step, `\`${name}\` cannot be set in a pipeline string.${suggest(name, settable)}`)
}

/** Reads a value of a query, which is text: as text, else as a number, else as a boolean, whichever the option accepts. */
function readValue(plugin: LoadedPlugin, name: string, text: string): unknown {
  const candidates: unknown[] = [text]
  if (text.trim() !== '' && Number.isFinite(Number(text))) candidates.push(Number(text))
  if (text === 'true' || text === 'false') candidates.push(text === 'true')
  const faults = candidates.map((value) => faultsOf(plugin, name, value))
  const fitting = faults.findIndex((codes) => codes.length === 0)
  // None is valid: the value of the right type has the informative fault, e.g. that it is too large.
  const typed = faults.findIndex((codes) => !codes.includes('invalid_type'))
  return candidates[fitting === -1 ? Math.max(typed, 0) : fitting]
}

/** Returns the codes of the schema's faults for this value of the option. */
function faultsOf(plugin: LoadedPlugin, name: string, value: unknown): string[] {
  const parsed = plugin.definition.options.safeParse({ ...plugin.configured, [name]: value })
  return parsed.success ? [] : parsed.error.issues.filter(({ path }) => path[0] === name).map(({ code }) => code)
}

/** Returns the parsed form of a bound, e.g. milliseconds of `1h`, by the option's own schema where possible. */
function outputOf(plugin: LoadedPlugin, name: string, value: unknown): unknown {
  const option = optionSchemas(plugin.definition)[name]
  if (option !== undefined) {
    const parsed = option.safeParse(value)
    return parsed.success ? parsed.data : value
  }
  const parsed = plugin.definition.options.safeParse({ ...plugin.configured, [name]: value })
  return parsed.success ? (parsed.data as Record<string, unknown>)[name] : value
}

function refusal(step: Step, what: string): GatewayError {
  return new GatewayError(
    'invalid_request',
    `Plugin \`${step.name}\` at position ${step.position} of the pipeline: ${what}`,
  )
}
