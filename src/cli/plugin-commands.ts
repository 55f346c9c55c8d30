import type { Command } from 'commander'
import { loadConfig, pluginOptions } from '../config/load.ts'
import { placesOf } from '../config/places.ts'
import { messageOf } from '../core/errors.ts'
import { loadDefinition, type PluginFolder, parseOptions } from '../pipeline/load.ts'
import type { PluginCommand, PluginDefinition } from '../plugin/contract.ts'
import { createByteStores } from '../stores/kv/stores.ts'
import { addHelp } from './help.ts'
import { commandLog } from './offline.ts'

/**
 * Adds `turnpike <plugin> <command>` for each plugin that declares commands. Logs each plugin that cannot be imported.
 */
export async function addCommandsOfPlugins(program: Command, folders: readonly PluginFolder[]): Promise<void> {
  for (const found of folders) {
    try {
      const definition = await loadDefinition(found, 0)
      const isTaken = program.commands.some((command) => command.name() === groupOf(definition))
      if (!isTaken && definition.commands !== undefined) addCommandsOf(program, definition)
    } catch (error) {
      commandLog.warn({ plugin: found.name, reason: messageOf(error) }, 'plugin.broken')
    }
  }
}

function groupOf({ commandGroup, name }: PluginDefinition): string {
  return commandGroup ?? name
}

function addCommandsOf(program: Command, definition: PluginDefinition): void {
  const group = program.command(groupOf(definition)).description(definition.summary)
  for (const declared of definition.commands ?? []) {
    const command = group.command(declared.name).description(declared.summary).option('--json', 'print JSON')
    const { argument } = declared
    const words = [
      'turnpike',
      group.name(),
      declared.name,
      ...(argument === undefined ? [] : [argument.example ?? `<${argument.name}>`]),
    ]
    addHelp(command, { examples: [words.join(' ')], exits: { 1: 'failed, or found nothing or a fault' } })
    if (argument === undefined) command.action((flags) => run(definition, declared, { argument: '', ...flags }))
    else {
      command.argument(`<${argument.name}>`, argument.description)
      command.action((text, flags) => run(definition, declared, { argument: text, ...flags }))
    }
  }
}

async function run(
  definition: PluginDefinition,
  command: PluginCommand<unknown>,
  { argument, json = false }: { argument: string; json?: boolean },
): Promise<void> {
  const { config } = loadConfig(process.env)
  const options = parseOptions(definition, pluginOptions(config).get(definition.name) ?? {})
  const print = (text: string) => void process.stdout.write(`${text}\n`)
  const clock = { nowMs: () => Date.now() }
  const stores = await createByteStores({ redisUrl: config.redis_url, log: commandLog })
  const services = { log: commandLog, clock, stores, ...placesOf(definition.name, config) }
  try {
    if (!(await command.run({ options, argument, json, print, ...services }))) process.exitCode = 1
  } finally {
    await stores.close()
  }
}
