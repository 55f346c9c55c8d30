import { readFileSync } from 'node:fs'
import { Command, CommanderError } from 'commander'
import { errorCodeOf, messageOf } from '../core/errors.ts'
import { nameSourceLines } from '../logging/source-lines.ts'
import type { PluginFolder } from '../pipeline/load.ts'
import { EXIT_CODES, exitCodeOf } from './exit-codes.ts'
import { addListed, readListing, writeListing } from './listing.ts'

/**
 * Loaders of the gateway's own commands in the order of the help. Each is imported when it is run, or when all are
 * listed.
 */
const COMMANDS: Readonly<Record<string, () => Promise<(program: Command) => void>>> = {
  start: async () => (await import('./start.ts')).addStartCommand,
  doctor: async () => (await import('./doctor/command.ts')).addDoctorCommand,
  tail: async () => (await import('./tail/command.ts')).addTailCommand,
  replay: async () => (await import('./replay/command.ts')).addReplayCommand,
  pipeline: async () => (await import('./pipeline.ts')).addPipelineCommand,
  plugin: async () => (await import('./plugin.ts')).addPluginCommand,
  config: async () => (await import('./config.ts')).addConfigCommand,
  migrate: async () => (await import('./migrate.ts')).addMigrateCommand,
  backup: async () => (await import('./backup.ts')).addBackupCommand,
  prices: async () => (await import('./prices.ts')).addPricesCommand,
  receipt: async () => (await import('./receipt.ts')).addReceiptCommand,
  ledger: async () => (await import('./ledger/command.ts')).addLedgerCommand,
  conversation: async () => (await import('./conversation/command.ts')).addConversationCommand,
  codex: async () => (await import('./codex/command.ts')).addCodexCommand,
  login: async () => (await import('./login/command.ts')).addLoginCommand,
  logout: async () => (await import('./login/command.ts')).addLogoutCommand,
  'session-token': async () => (await import('./session-token.ts')).addSessionTokenCommand,
  account: async () => (await import('./account.ts')).addAccountCommand,
  person: async () => (await import('./people/person.ts')).addPersonCommand,
  team: async () => (await import('./people/team.ts')).addTeamCommand,
  key: async () => (await import('./people/key.ts')).addKeyCommand,
  tag: async () => (await import('./people/tag.ts')).addTagCommand,
  audit: async () => (await import('./audit.ts')).addAuditCommand,
  alert: async () => (await import('./alert.ts')).addAlertCommand,
  stripe: async () => (await import('./stripe.ts')).addStripeCommand,
  mpp: async () => (await import('./mpp.ts')).addMppCommand,
}

/** Runs the `turnpike` command; sets the exit code that `EXIT_CODES` explains. */
export async function runCommandLine(argv: readonly string[]): Promise<void> {
  nameSourceLines()
  // A reader that closes the pipe early, like `| head`, is no failure.
  process.stdout.on('error', (error) => process.exit(errorCodeOf(error) === 'EPIPE' ? 0 : 1))
  try {
    const program = await programFor(argv.slice(2))
    await program.parseAsync([...argv])
  } catch (error) {
    // Commander has printed its own errors already.
    if (!(error instanceof CommanderError)) process.stderr.write(`${messageOf(error)}\n`)
    process.exitCode = exitCodeOf(error)
  }
}

/**
 * Creates the program of one command line; a command of the gateway's own imports neither other commands nor plugins.
 */
async function programFor(words: readonly string[]): Promise<Command> {
  const [name] = words
  const load = name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (load !== undefined) {
    const program = emptyProgram()
    const add = await load()
    add(program)
    return program
  }
  return (isWholeHelp(words) ? await createListedProgram() : undefined) ?? (await createWholeProgram())
}

/** Tests for a command line that only lists the commands: options of the whole program, or nothing. */
function isWholeHelp([first = '--help', ...more]: readonly string[]): boolean {
  return more.length === 0 && ['--help', '-h', 'help'].includes(first)
}

/** Creates the program with the gateway's own commands, and those of all plugins or of `folders`. */
export async function createWholeProgram(folders?: readonly PluginFolder[]): Promise<Command> {
  const program = await createProgram()
  const { addCommandsOfPlugins } = await import('./plugin-commands.ts')
  const { pluginFolders } = await import('./plugin-folders.ts')
  await addCommandsOfPlugins(program, folders ?? pluginFolders())
  return program
}

/** Writes the list of built-in commands beside the bundle, for the help. */
export async function writeBuiltInListing(): Promise<void> {
  const { builtInFolders } = await import('./plugin-folders.ts')
  writeListing(await createWholeProgram(builtInFolders()))
}

/** Creates the same program from that list, importing the operator's plugins only; `undefined` without a bundle. */
async function createListedProgram(): Promise<Command | undefined> {
  const listing = readListing()
  if (listing === undefined) return undefined
  const program = emptyProgram()
  addListed(program, listing)
  const { configuredFolders } = await import('./plugin-folders.ts')
  const folders = configuredFolders()
  if (folders.length > 0) await (await import('./plugin-commands.ts')).addCommandsOfPlugins(program, folders)
  return program
}

function versionOf(file: string): string {
  const { version }: { version: string } = JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'))
  return version
}

/** Creates the program with the gateway’s own commands; those of plugins are added when one is run. */
export async function createProgram(): Promise<Command> {
  const program = emptyProgram()
  for (const add of await Promise.all(Object.values(COMMANDS).map((load) => load()))) add(program)
  return program
}

function emptyProgram(): Command {
  return new Command('turnpike')
    .description('A gateway for model messages: swap the base URL, name the plugins.')
    .version(versionOf('../../package.json'), '-V, --version', 'print the version')
    .showHelpAfterError('(turnpike --help lists the commands)')
    .showSuggestionAfterError()
    .exitOverride()
    .addHelpText('after', exitCodeTable())
}

function exitCodeTable(): string {
  const rows = Object.entries(EXIT_CODES).map(([code, meaning]) => `  ${code.padEnd(2)}  ${meaning}`)
  return `\nExit codes:\n${rows.join('\n')}`
}
