import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { errorCodeOf, messageOf } from '../core/errors.ts'
import { addAccountCommand } from './account.ts'
import { addAuditCommand } from './audit.ts'
import { addBackupCommand } from './backup.ts'
import { addBenchCommand } from './bench/command.ts'
import { addCompletionCommand } from './completion/command.ts'
import { addConfigCommand } from './config.ts'
import { addDoctorCommand } from './doctor/command.ts'
import { EXIT_CODES, exitCodeOf } from './exit-codes.ts'
import { addMigrateCommand } from './migrate.ts'
import { addMppCommand } from './mpp.ts'
import { addPipelineCommand } from './pipeline.ts'
import { addPluginCommand } from './plugin.ts'
import { addCommandsOfPlugins } from './plugin-commands.ts'
import { addPricesCommand } from './prices.ts'
import { addReceiptCommand } from './receipt.ts'
import { addReplayCommand } from './replay/command.ts'
import { addSessionTokenCommand } from './session-token.ts'
import { addSizeCommand } from './size.ts'
import { addStartCommand } from './start.ts'
import { addStripeCommand } from './stripe.ts'
import { addTailCommand } from './tail/command.ts'

/** Runs the `turnpike` command; sets the exit code that `EXIT_CODES` explains. */
export async function runCommandLine(argv: readonly string[]): Promise<void> {
  const program = createProgram()
  // A reader that has seen enough, like `| head`, is no failure.
  process.stdout.on('error', (error) => process.exit(errorCodeOf(error) === 'EPIPE' ? 0 : 1))
  try {
    // What is the gateway's own need not wait for plugins to be imported.
    const isOwn = program.commands.some((command) => command.name() === argv[2])
    if (!isOwn || argv[2] === 'completion') await addCommandsOfPlugins(program)
    await program.parseAsync([...argv])
  } catch (error) {
    // What commander throws it has told already.
    if (!(error instanceof CommanderError)) process.stderr.write(`${messageOf(error)}\n`)
    process.exitCode = exitCodeOf(error)
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
    .exitOverride()
    .addHelpText('after', exitCodeTable())
  addStartCommand(program)
  addDoctorCommand(program)
  addTailCommand(program)
  addReplayCommand(program)
  addBenchCommand(program)
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
  addCompletionCommand(program)
  return program
}

function exitCodeTable(): string {
  const rows = Object.entries(EXIT_CODES).map(([code, meaning]) => `  ${code.padEnd(2)}  ${meaning}`)
  return `\nExit codes:\n${rows.join('\n')}`
}
