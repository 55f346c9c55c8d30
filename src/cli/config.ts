import type { Command } from 'commander'
import { loadConfig } from '../config/load.ts'
import { settingsInForce } from '../config/settings-in-force.ts'
import { addHelp } from './help.ts'

/** Adds `turnpike config`: prints the effective configuration with secrets hidden, and the source of each value. */
export function addConfigCommand(program: Command): void {
  const command = program
    .command('config')
    .description('Show the effective configuration; secrets are hidden.')
    .option('--json', 'print JSON')
    .action(({ json }: { json?: boolean }) => {
      const { file, options: described } = settingsInForce(loadConfig(process.env))
      const options = described.map(({ description: _, ...option }) => option)
      if (json) return void process.stdout.write(`${JSON.stringify({ file, options }, undefined, 2)}\n`)
      process.stdout.write(`# ${file === undefined ? 'no configuration file' : file}\n`)
      for (const { name, value, source } of options) {
        process.stdout.write(`${name}: ${value === undefined ? '(unset)' : JSON.stringify(value)}  # ${source}\n`)
      }
    })
  addHelp(command, { examples: ['turnpike config', 'SVC_CONFIG=production.yaml turnpike config --json'] })
}
