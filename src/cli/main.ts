import { readFileSync } from 'node:fs'
import { Command } from 'commander'
import { ConfigError } from '../config/config-error.ts'
import { errorCodeOf, messageOf } from '../core/errors.ts'
import { PluginError } from '../pipeline/load.ts'
import { PriceFileError } from '../prices/overrides.ts'
import { addAccountCommand } from './account.ts'
import { addAuditCommand } from './audit.ts'
import { addBackupCommand } from './backup.ts'
import { addConfigCommand } from './config.ts'
import { addDoctorCommand } from './doctor/command.ts'
import { addMigrateCommand } from './migrate.ts'
import { addMppCommand } from './mpp.ts'
import { addPipelineCommand } from './pipeline.ts'
import { addPluginCommand } from './plugin.ts'
import { addCommandsOfPlugins } from './plugin-commands.ts'
import { addPricesCommand } from './prices.ts'
import { addReceiptCommand } from './receipt.ts'
import { addSessionTokenCommand } from './session-token.ts'
import { addSizeCommand } from './size.ts'
import { addStartCommand } from './start.ts'
import { addStripeCommand } from './stripe.ts'

const EXIT_FAILED = 1
const EXIT_CONFIGURATION = 78

/** Runs the `turnpike` command. Exit code 0: done; 1: failed or found a fault; 78: the configuration cannot be used. */
export async function runCommandLine(argv: readonly string[]): Promise<void> {
  const program = createProgram()
  // A reader that has seen enough, like `| head`, is no failure.
  process.stdout.on('error', (error) => process.exit(errorCodeOf(error) === 'EPIPE' ? 0 : EXIT_FAILED))
  try {
    // What is the gateway's own need not wait for plugins to be imported.
    if (!program.commands.some((command) => command.name() === argv[2])) await addCommandsOfPlugins(program)
    await program.parseAsync([...argv])
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`)
    const isConfiguration =
      error instanceof ConfigError ||
      error instanceof PriceFileError ||
      (error instanceof PluginError && error.isConfiguration)
    process.exitCode = isConfiguration ? EXIT_CONFIGURATION : EXIT_FAILED
  }
}

function versionOf(file: string): string {
  const { version }: { version: string } = JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'))
  return version
}

/** The command and all of the gateway’s own commands; those of plugins are added when it is run. */
export function createProgram(): Command {
  const program = new Command('turnpike')
    .description('A gateway for model messages: swap the base URL, name the modules.')
    .version(versionOf('../../package.json'), '-V, --version', 'print the version')
    .showHelpAfterError('(turnpike --help lists the commands)')
    .showSuggestionAfterError()
  addStartCommand(program)
  addDoctorCommand(program)
  addPipelineCommand(program)
  addPluginCommand(program)
  addConfigCommand(program)
  addMigrateCommand(program)
  addBackupCommand(program)
  addPricesCommand(program)
  addReceiptCommand(program)
  addSessionTokenCommand(program)
  addAccountCommand(program)
  addAuditCommand(program)
  addStripeCommand(program)
  addMppCommand(program)
  addSizeCommand(program)
  return program
}
