import { stringify } from 'yaml'
import {
  assertEditable,
  assertOpen,
  editableOptions,
  isEditable,
  parseOverride,
  withOverrides,
} from '../../config/overlay.ts'
import type { Config } from '../../config/schema.ts'
import { settingsInForce } from '../../config/settings-in-force.ts'
import { GatewayError } from '../../core/errors.ts'
import type { SettingsControl, WantedSetting } from '../../http/dashboard/settings/control.ts'
import type { PluginRegistry } from '../../pipeline/registry.ts'
import { resolvePipeline } from '../../pipeline/resolve.ts'
import { type EffectParts, effectsOf } from './effects.ts'
import { SettingsInUse, type SettingsParts } from './in-use.ts'
import { createKeyControl } from './provider-key-control.ts'

/** Input of `openSettings`. */
export interface SettingsOptions extends SettingsParts, EffectParts {}

/** The control of the settings, and its end. */
export interface OpenSettings {
  readonly control: SettingsControl
  close(): Promise<void>
}

const LONGEST_VALUE = 10_000

/** Applies the stored settings, and creates their control. */
export async function openSettings(options: SettingsOptions): Promise<OpenSettings> {
  const inUse = new SettingsInUse(options)
  await inUse.refresh()
  const { store } = options
  const control: SettingsControl = {
    ...createKeyControl(options, inUse),
    inForce: () => shownSettings(options, inUse),
    changes: () => store.list(),
    async preview(wanted) {
      const { before, after } = assertUsable(wanted, options, inUse)
      const effects = await effectsOf(wanted.name, { before, after }, options)
      return { ...effects, yaml: yamlOf(wanted), locked: lockOf(wanted.name, options) }
    },
    async change(wanted, author) {
      assertUsable(wanted, options, inUse)
      assertWritable(wanted.name, options)
      const value = wanted.value === null ? null : JSON.stringify(wanted.value)
      const changed = await store.change({ ...author, name: wanted.name, value })
      await inUse.changed()
      // Always stored without a condition.
      if (changed === undefined) throw new GatewayError('internal_error', 'The change was not stored.')
      return changed
    },
    async undo(seq, author) {
      const found = (await store.list()).find((change) => change.seq === seq)
      if (found === undefined) throw new GatewayError('not_found', `There is no change ${seq}.`)
      const { name, previous } = found
      if (!isEditable(name))
        throw new GatewayError('invalid_request', 'The key before this one is not kept: enter it again.')
      const wanted = { name, value: previous === null ? null : JSON.parse(previous) }
      assertWritable(name, options)
      assertUsable(wanted, options, inUse)
      const changed = await store.change({ ...author, name, value: previous, onlyAfter: seq })
      if (changed === undefined)
        throw new GatewayError('invalid_request', `\`${name}\` has been changed since: undo the later change first.`)
      await inUse.changed()
      return changed
    },
  }
  return { control, close: () => inUse.close() }
}

/** Returns the configuration before and after a change. Throws `invalid_request` when it could not run. */
function assertUsable(
  wanted: WantedSetting,
  { loaded, providers, registry }: SettingsOptions,
  inUse: SettingsInUse,
): { before: Config; after: Config } {
  const { name, value } = wanted
  if (value === null) assertEditable(name)
  else parseOverride(wanted)
  if (JSON.stringify(value).length > LONGEST_VALUE)
    throw new GatewayError('invalid_request', `value: expected at most ${LONGEST_VALUE} characters of JSON.`)
  const others = inUse.overrides.filter((override) => override.name !== name)
  const isOpen = loaded.sourceOf(name) === 'default'
  // The preview of a locked option shows the change as if it were made in the file.
  const base = isOpen ? loaded : { ...loaded, sourceOf: () => 'default' }
  const { config, ignored } = withOverrides(base, value === null ? others : [...others, { name, value }])
  const own = ignored.find((override) => override.name === name)
  if (own !== undefined) throw new GatewayError('invalid_request', own.reason)
  providers.assertRoutes(config.models)
  resolvePipeline(config.pipeline.default, 'default', { registry, rails: config.pipeline })
  assertOffAllowed(config, registry)
  return { before: inUse.config, after: config }
}

/** Throws `invalid_request` for a locked or unknown plugin that is to be switched off. */
function assertOffAllowed({ pipeline: { off, locked } }: Config, registry: PluginRegistry): void {
  for (const name of off) {
    if (registry.get(name) === undefined) throw new GatewayError('invalid_request', `There is no plugin \`${name}\`.`)
    if (locked.includes(name))
      throw new GatewayError(
        'invalid_request',
        `Plugin \`${name}\` is locked (\`pipeline.locked\`, or a cap that it enforces): it always runs.`,
      )
  }
}

function assertWritable(name: string, { loaded }: SettingsOptions): void {
  if (!loaded.config.settings.editable)
    throw new GatewayError(
      'permission_error',
      'Settings are read-only here (`settings.editable` is off): copy the YAML.',
    )
  assertOpen(name, loaded.sourceOf)
}

/** Returns the reason why an option cannot be changed here; `null` when it can. */
function lockOf(name: string, options: SettingsOptions): string | null {
  try {
    assertWritable(name, options)
    return null
  } catch (error) {
    if (error instanceof GatewayError) return error.message
    throw error
  }
}

/** Prints a change for the configuration file. */
function yamlOf({ name, value }: WantedSetting): string {
  const at = name.indexOf('.')
  return stringify({ [name.slice(0, at)]: { [name.slice(at + 1)]: value } })
}

function shownSettings(options: SettingsOptions, inUse: SettingsInUse): object {
  const { loaded } = options
  const overridden = new Set(inUse.overrides.map(({ name }) => name))
  const stored = new Map(inUse.keys.filter(({ isInForce }) => isInForce).map((key) => [key.provider, key]))
  const sourceOf = (name: string) => {
    const provider = /^providers\.(?:openai-compatible\.)?([^.]+)\.(?:api_key|base_url)$/.exec(name)?.[1] ?? ''
    const isOverridden = [...overridden].some((each) => each === name || each.startsWith(`${name}.`))
    if (isOverridden) return 'dashboard' as const
    const isStored = stored.has(provider) && loaded.sourceOf(name) === 'default'
    return isStored && (name.endsWith('.api_key') || stored.get(provider)?.baseUrl !== undefined)
      ? ('dashboard' as const)
      : loaded.sourceOf(name)
  }
  const shown = settingsInForce({ ...loaded, config: inUse.config, sourceOf })
  return {
    ...shown,
    isEditable: inUse.isEditable,
    editable: editableOptions(),
    ignored: inUse.ignored,
  }
}
