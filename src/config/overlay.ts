import { GatewayError, messageOf } from '../core/errors.ts'
import { inPlainWords } from '../core/request/message.ts'
import { withGuardLocked } from './locked-guard.ts'
import { listOptions } from './options.ts'
import { type Config, configSchema } from './schema.ts'

/**
 * DESIGN — settings changed in the dashboard
 *
 * The file and the environment win: a stored change applies to an option that neither sets. So a configuration in version
 * control is never overruled, and the dashboard changes what it leaves open. A stored value is parsed by the option's own
 * schema before it is stored and again before it is used; one that no longer fits is ignored, with a reason.
 */

/** Sections of which any member can be changed. */
const WHOLE_SECTIONS = ['costs', 'models'] as const
const PIPELINE_OPTIONS = ['default', 'off']
const MOST_MODELS = 500
const LONGEST_NAME = 250

/** A stored value of an option, as JSON has it. */
export interface Override {
  readonly name: string
  readonly value: unknown
}

/** A stored value that is not in force. */
export interface IgnoredOverride {
  readonly name: string
  readonly reason: string
}

interface Loaded {
  readonly config: Config
  readonly sourceOf: (path: string) => string
}

type Section = (typeof WHOLE_SECTIONS)[number] | 'pipeline'

/** Returns true for an option that can be changed without a restart. */
export function isEditable(name: string): boolean {
  const [section = '', key = ''] = split(name)
  if (section === 'pipeline') return PIPELINE_OPTIONS.includes(key)
  return WHOLE_SECTIONS.some((each) => each === section) && key !== '' && name.length <= LONGEST_NAME
}

/** Throws `invalid_request` for an option that needs a restart. */
export function assertEditable(name: string): void {
  if (isEditable(name)) return
  throw new GatewayError(
    'invalid_request',
    `name: expected \`costs.…\`, \`models.…\`, \`pipeline.default\` or \`pipeline.off\`, got \`${name}\`.`,
  )
}

/** Returns the names of all options that can be changed, without the operator's own names of models. */
export function editableOptions(): string[] {
  return listOptions(configSchema)
    .map(({ path }) => path.join('.'))
    .filter(isEditable)
}

/** Parses a value by the schema of its option. Throws `invalid_request`. */
export function parseOverride({ name, value }: Override): unknown {
  assertEditable(name)
  const [section, key] = split(name)
  // Safe: `assertEditable` accepts sections of the schema only.
  const parsed = configSchema.shape[section as Section].safeParse({ [key]: value })
  const fault = parsed.error?.issues[0]
  if (fault?.code === 'unrecognized_keys') throw new GatewayError('invalid_request', `name: there is no \`${name}\`.`)
  if (!parsed.success)
    throw new GatewayError('invalid_request', `value: ${inPlainWords(fault?.message ?? 'not valid')}.`)
  return (parsed.data as Readonly<Record<string, unknown>>)[key]
}

/** Returns the configuration with stored values where it leaves an option open, and those that are not in force. */
export function withOverrides(
  { config, sourceOf }: Loaded,
  overrides: readonly Override[],
): { readonly config: Config; readonly ignored: readonly IgnoredOverride[] } {
  const ignored: IgnoredOverride[] = []
  let changed: Config = config
  for (const override of overrides) {
    try {
      assertOpen(override.name, sourceOf)
      changed = withValue(changed, override.name, parseOverride(override))
    } catch (error) {
      ignored.push({ name: override.name, reason: messageOf(error) })
    }
  }
  return { config: withGuardLocked(changed), ignored }
}

/** Throws `invalid_request` for an option that the file or the environment sets. */
export function assertOpen(name: string, sourceOf: Loaded['sourceOf']): void {
  const source = sourceOf(name)
  if (source === 'default') return
  throw new GatewayError(
    'invalid_request',
    `\`${name}\` is set by the ${source === 'file' ? 'configuration file' : 'environment'}, which takes precedence: change it there.`,
  )
}

function withValue(config: Config, name: string, value: unknown): Config {
  const [section, key] = split(name)
  const members = config[section as Section]
  if (section === 'models' && Object.keys(members).length >= MOST_MODELS && !Object.hasOwn(members, key))
    throw new GatewayError('invalid_request', `models: expected at most ${MOST_MODELS} names.`)
  return { ...config, [section]: { ...members, [key]: value } }
}

function split(name: string): [section: string, key: string] {
  const at = name.indexOf('.')
  return at < 0 ? [name, ''] : [name.slice(0, at), name.slice(at + 1)]
}
