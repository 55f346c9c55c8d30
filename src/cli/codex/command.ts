import { homedir } from 'node:os'
import path from 'node:path'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { addHelp } from '../help.ts'
import { ask, findGateway, parseUrl } from '../remote/gateway.ts'
import { codexConfig } from './config-text.ts'
import { markedText, writeOwnFile } from './own-file.ts'

interface CodexOptions {
  readonly url?: string
  readonly model: string
  readonly keyVariable: string
  readonly pipe?: string
  readonly remoteCompaction?: boolean
  readonly catalogue?: boolean
  readonly write?: boolean
  readonly home: string
  readonly key: string
  readonly profile: string
}

/** The version in whose form the catalogue is. */
const CODEX_VERSION = '0.169.0'
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/
const PROFILE = /^[\w-]{1,64}$/

/** Adds `turnpike codex`: prints or writes the configuration with which Codex calls the gateway. */
export function addCodexCommand(program: Command): void {
  const command = program
    .command('codex')
    .description('Print or write the configuration with which Codex calls the gateway.')
    .option('--url <url>', 'the gateway’s address (default: the configured one on this machine)', parseUrl)
    .option('--model <name>', 'the model that sessions begin with', 'claude-sonnet-4-5')
    .option(
      '--key-variable <name>',
      'environment variable that has the key',
      matching(VARIABLE, 'a variable’s name'),
      'TURNPIKE_KEY',
    )
    .option('--pipe <pipeline>', 'pipeline of every request (default: that of the key or the operator)')
    .option('--remote-compaction', 'have the gateway compact conversations, not Codex itself')
    .option('--catalogue', 'print the models as Codex reads them from `model_catalog_json`; the gateway has to run')
    .addOption(
      new Option('--key <key>', 'key of the gateway, for --catalogue').env('TURNPIKE_KEY').default('any', 'any text'),
    )
    .option('--write', 'write the profile’s file into Codex’s folder instead')
    .addOption(
      new Option('--home <folder>', 'Codex’s folder')
        .env('CODEX_HOME')
        .default(path.join(homedir(), '.codex'), '~/.codex'),
    )
    .option('--profile <name>', 'name of the profile', matching(PROFILE, 'letters, digits, - and _'), 'turnpike')
    .action(run)
  addHelp(command, {
    examples: [
      'turnpike codex --write',
      'turnpike codex --model gpt-5.2 --remote-compaction',
      'turnpike codex --catalogue > models.json',
    ],
    exits: { 1: 'there is another file of the profile’s name', 69: 'no gateway replies, with --catalogue' },
    notes: [
      'A written file is a profile of its own, which Codex puts over config.toml. It is written again if it is as this command wrote it; with edits it is first renamed to .bak1, .bak2, …; any other file stays as it is.',
    ],
  })
}

async function run(options: CodexOptions): Promise<void> {
  const { model, keyVariable, pipe, profile, home, key } = options
  const gateway = findGateway(options)
  if (options.catalogue) return printCatalogue(gateway.url, key)
  const compactsRemotely = options.remoteCompaction === true
  const text = codexConfig({ url: gateway.url, model, keyVariable, pipe, compactsRemotely })
  if (!options.write) return void process.stdout.write(text)
  const file = path.join(home, `${profile}.config.toml`)
  const { isChanged, backup } = writeOwnFile(file, markedText(text))
  if (backup !== undefined) process.stdout.write(`Your edits are in ${backup}.\n`)
  process.stdout.write(`${isChanged ? 'Wrote' : 'Unchanged:'} ${file}. Start Codex with: codex --profile ${profile}\n`)
}

async function printCatalogue(url: string, key: string): Promise<void> {
  const reply = await ask(
    { url, headers: { authorization: `Bearer ${key}` } },
    `/v1/models?client_version=${CODEX_VERSION}`,
  )
  process.stdout.write(`${JSON.stringify(await reply.json(), undefined, 2)}\n`)
}

function matching(pattern: RegExp, what: string): (text: string) => string {
  return (text) => {
    if (pattern.test(text)) return text
    throw new InvalidArgumentError(`expected ${what}`)
  }
}
