import type { Command } from 'commander'
import { loadConfig, pluginOptions } from '../config/load.ts'
import { listOptions } from '../config/options.ts'
import { configSchema } from '../config/schema.ts'

/** Options of plugins are not known without loading them; those with a secret's name are taken for secrets. */
const SECRET_NAME = /key|secret|token|password|credential/i

/** `turnpike config`: the configuration in force, secrets hidden, and where each value came from. */
export function addConfigCommand(program: Command): void {
  program
    .command('config')
    .description('Show the configuration in force; secrets are hidden.')
    .option('--json', 'print JSON')
    .action(({ json }: { json?: boolean }) => {
      const { config, file, sourceOf } = loadConfig(process.env)
      const options = listOptions(configSchema).map(({ path, secret }) => {
        const value = path.reduce<unknown>((node, key) => (node as Record<string, unknown> | undefined)?.[key], config)
        const name = path.join('.')
        return { name, value: secret && value !== undefined ? ('[hidden]' as unknown) : value, source: sourceOf(name) }
      })
      for (const [plugin, values] of pluginOptions(config)) {
        for (const [key, value] of Object.entries(values)) {
          const name = `plugins.${plugin}.${key}`
          options.push({ name, value: SECRET_NAME.test(key) ? '[hidden]' : value, source: sourceOf(name) })
        }
      }
      if (json) return void process.stdout.write(`${JSON.stringify({ file, options }, undefined, 2)}\n`)
      process.stdout.write(`# ${file === undefined ? 'no configuration file' : file}\n`)
      for (const { name, value, source } of options) {
        process.stdout.write(`${name}: ${value === undefined ? '(unset)' : JSON.stringify(value)}  # ${source}\n`)
      }
    })
}
