import { Command } from 'commander'
import { addConfigCommand } from './config.ts'
import { addPipelineCommand } from './pipeline.ts'
import { addPluginCommand } from './plugin.ts'
import { addStartCommand } from './start.ts'

/** Runs the `turnpike` command. Exit code 0: done; 1: failed or found a fault; 78: the configuration cannot be used. */
export async function runCommandLine(argv: readonly string[]): Promise<void> {
  const program = new Command('turnpike')
    .description('A gateway for model messages: swap the base URL, name the modules.')
    .showHelpAfterError('(turnpike --help lists the commands)')
    .showSuggestionAfterError()
  addStartCommand(program)
  addPipelineCommand(program)
  addPluginCommand(program)
  addConfigCommand(program)
  try {
    await program.parseAsync([...argv])
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  }
}
