import { type LoadedConfig, pluginOptions } from './load.ts'
import { ANY_NAME, listOptions } from './options.ts'
import { type Config, configSchema } from './schema.ts'

/** Options of plugins are unknown without loading them; those with a secret's name are treated as secrets. */
const SECRET_NAME = /key|secret|token|password|credential/i

/** Sections of the schema; any other key beside them is a name of the operator's. */
const SECTIONS = new Set(
  listOptions(configSchema).flatMap(({ path }) => path.map((_, i) => path.slice(0, i + 1).join('.'))),
)

/** Effective option. */
export interface SettingInForce {
  readonly name: string
  /** Value, with secrets hidden. */
  readonly value: unknown
  readonly source: string
  /** Description; options of plugins are described elsewhere. */
  readonly description?: string | undefined
}

/** Effective configuration, and the source of each value. */
export interface SettingsInForce {
  /** Path; `undefined` without a configuration file. */
  readonly file: string | undefined
  readonly options: readonly SettingInForce[]
}

/** Lists all options with their values; secrets are hidden. */
export function settingsInForce({ config, file, sourceOf }: LoadedConfig): SettingsInForce {
  const options: SettingInForce[] = listOptions(configSchema).flatMap(({ path, secret, description }) =>
    valuesAt(config, path).map(({ name, value }) => ({
      name,
      value: secret && value !== undefined ? '[hidden]' : value,
      source: sourceOf(name),
      description,
    })),
  )
  for (const [plugin, values] of pluginOptions(config)) {
    for (const [key, value] of Object.entries(values)) {
      const name = `plugins.${plugin}.${key}`
      options.push({ name, value: withoutSecrets(key, value), source: sourceOf(name) })
    }
  }
  return { file, options }
}

/** Hides every value below a secret's name, at any depth. */
function withoutSecrets(key: string, value: unknown): unknown {
  if (SECRET_NAME.test(key)) return '[hidden]'
  if (Array.isArray(value)) return value.map((item) => withoutSecrets('', item))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutSecrets(name, member)]))
}

/**
 * Returns the option's value, or one value for each section that the operator named; empty for a section that is
 * absent.
 */
function valuesAt(config: Config, path: readonly string[]): { name: string; value: unknown }[] {
  let found: { name: string; value: unknown }[] = [{ name: '', value: config }]
  for (const key of path) {
    found = found.flatMap(({ name, value }) => {
      if (typeof value !== 'object' || value === null) return []
      const members = value as Readonly<Record<string, unknown>>
      const keys =
        key === ANY_NAME ? Object.keys(members).filter((member) => !SECTIONS.has(`${name}.${member}`)) : [key]
      return keys.map((member) => ({ name: name === '' ? member : `${name}.${member}`, value: members[member] }))
    })
  }
  return found
}
