import { GatewayError } from '../core/errors.ts'
import { explain } from '../core/message.ts'
import { suggest } from '../core/nearest.ts'
import type { Step } from './parse.ts'
import type { LoadedPlugin } from './registry.ts'

/** Bounds on one option's value as a caller may give it, in the option's own notation. */
export interface Clamp {
  readonly min?: unknown
  readonly max?: unknown
  readonly one_of?: readonly unknown[] | undefined
}

/** The clamps of one module, by option. */
export type Clamps = Readonly<Record<string, Clamp>>

/**
 * The effective options of a step: the operator's, overridden by the pipeline string's.
 * Throws `invalid_request` that names the option, what was expected and the step's position.
 */
export function effectiveOptions(plugin: LoadedPlugin, step: Step): unknown {
  const raw: Record<string, unknown> = { ...plugin.configured }
  for (const [name, text] of Object.entries(step.options)) {
    assertPerRequest(plugin, step, name)
    raw[name] = readValue(plugin, name, text)
  }
  const parsed = plugin.definition.options.safeParse(raw)
  if (!parsed.success) throw refusal(step, explain(parsed.error))
  return parsed.data
}

/** Throws `invalid_request` when a caller's option lies outside its clamp. */
export function assertWithinClamps(plugin: LoadedPlugin, step: Step, clamps: Clamps): void {
  for (const [name, text] of Object.entries(step.options)) {
    const clamp = clamps[name]
    if (clamp === undefined) continue
    const value = outputOf(plugin, name, readValue(plugin, name, text))
    const output = (bound: unknown) => outputOf(plugin, name, bound)
    if (clamp.one_of !== undefined && !clamp.one_of.some((allowed) => output(allowed) === value)) {
      throw refusal(
        step,
        `\`${name}\`: expected one of ${clamp.one_of.map((allowed) => `\`${allowed}\``).join(', ')}, got \`${text}\``,
      )
    }
    if (clamp.max !== undefined && Number(value) > Number(output(clamp.max))) {
      throw refusal(step, `\`${name}\`: expected at most \`${clamp.max}\`, got \`${text}\``)
    }
    if (clamp.min !== undefined && Number(value) < Number(output(clamp.min))) {
      throw refusal(step, `\`${name}\`: expected at least \`${clamp.min}\`, got \`${text}\``)
    }
  }
}

function assertPerRequest(plugin: LoadedPlugin, step: Step, name: string): void {
  const settable: readonly string[] = plugin.definition.perRequest
  if (settable.includes(name)) return
  throw refusal(step, `\`${name}\` cannot be set in a pipeline string.${suggest(name, settable)}`)
}

/** A query holds text only: the text as it is, else as a number, else as a boolean, whichever the option accepts. */
function readValue(plugin: LoadedPlugin, name: string, text: string): unknown {
  const candidates: unknown[] = [text]
  if (text.trim() !== '' && Number.isFinite(Number(text))) candidates.push(Number(text))
  if (text === 'true' || text === 'false') candidates.push(text === 'true')
  return candidates.find((value) => isAccepted(plugin, name, value)) ?? text
}

function isAccepted(plugin: LoadedPlugin, name: string, value: unknown): boolean {
  const parsed = plugin.definition.options.safeParse({ ...plugin.configured, [name]: value })
  return parsed.success || !parsed.error.issues.some((issue) => issue.path[0] === name && issue.code === 'invalid_type')
}

/** The parsed form of one option's value, e.g. milliseconds of `1h`. */
function outputOf(plugin: LoadedPlugin, name: string, value: unknown): unknown {
  const parsed = plugin.definition.options.safeParse({ ...plugin.configured, [name]: value })
  // An object schema's output is an object; a value it refuses is reported by effectiveOptions.
  return parsed.success ? (parsed.data as Record<string, unknown>)[name] : value
}

function refusal(step: Step, what: string): GatewayError {
  return new GatewayError(
    'invalid_request',
    `Module \`${step.name}\` at position ${step.position} of the pipeline: ${what}.`,
  )
}
