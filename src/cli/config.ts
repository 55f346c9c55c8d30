import type { Command } from 'commander'
import { loadConfig, pluginOptions } from '../config/load.ts'
import { ANY_NAME, listOptions } from '../config/options.ts'
import { type Config, configSchema } from '../config/schema.ts'

/** Options of plugins are not known without loading them; those with a secret's name are taken for secrets. */
const SECRET_NAME = /key|secret|token|password|credential/i

/** Sections that the schema names; what else stands beside them was named by the operator. */
const SECTIONS = new Set(
  listOptions(configSchema).flatMap(({ path }) => path.map((_, i) => path.slice(0, i + 1).join('.'))),
)

/** `turnpike config`: the configuration in force, secrets hidden, and where each value came from. */
export function addConfigCommand(program: Command): void {
  program
    .command('config')
    .description('Show the configuration in force; secrets are hidden.')
    .option('--json', 'print JSON')
    .action(({ json }: { json?: boolean }) => {
      const { config, file, sourceOf } = loadConfig(process.env)
      const options = listOptions(configSchema).flatMap(({ path, secret }) =>
        valuesAt(config, path).map(({ name, value }) => ({
          name,
          value: secret && value !== undefined ? ('[hidden]' as unknown) : value,
          source: sourceOf(name),
        })),
      )
      for (const [plugin, values] of pluginOptions(config)) {
        for (const [key, value] of Object.entries(values)) {
          const name = `plugins.${plugin}.${key}`
          options.push({ name, value: withoutSecrets(key, value), source: sourceOf(name) })
        }
      }
      if (json) return void process.stdout.write(`${JSON.stringify({ file, options }, undefined, 2)}\n`)
      process.stdout.write(`# ${file === undefined ? 'no configuration file' : file}\n`)
      for (const { name, value, source } of options) {
        process.stdout.write(`${name}: ${value === undefined ? '(unset)' : JSON.stringify(value)}  # ${source}\n`)
      }
    })
}

/** A value with all that has a secret's name hidden, however deep it stands. */
function withoutSecrets(key: string, value: unknown): unknown {
  if (SECRET_NAME.test(key)) return '[hidden]'
  if (Array.isArray(value)) return value.map((item) => withoutSecrets('', item))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutSecrets(name, member)]))
}

/** The option's value, or one for each section that the operator named; nothing for a section that is not there. */
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
