import { execFile } from 'node:child_process'
import path from 'node:path'
import { promisify } from 'node:util'
import { GENERATED } from './markdown.ts'

const INTRODUCTION = `# The \`turnpike\` command

In a checkout the command is \`npx turnpike\` or \`node bin/turnpike.mjs\`. It reads the same configuration and environment as the gateway.
[The command line](../command-line.md) shows \`tail\`, \`replay\`, \`bench\` and \`completion\` at work.`

/** The help of one command and of the commands below it, in the order in which help lists them. */
interface CommandHelp {
  readonly name: string
  readonly text: string
  readonly below: readonly CommandHelp[]
}

/** The reference page of the command line: what \`--help\` says, command by command. */
export async function commandLinePage(root: string): Promise<string> {
  const { text, below } = await helpOf(path.join(root, 'bin/turnpike.mjs'), [])
  const parts = [block(text), ...below.flatMap(entriesOf)]
  return `${[GENERATED, INTRODUCTION, ...parts].join('\n\n')}\n`
}

function entriesOf({ name, text, below }: CommandHelp): string[] {
  if (below.length > 0) return below.flatMap(entriesOf)
  return [`## ${name}`, block(text)]
}

function block(text: string): string {
  return `\`\`\`text\n${text.trimEnd()}\n\`\`\``
}

/** Commander prints its examples only in the help that a person sees, so that is what is asked for. */
async function helpOf(binary: string, words: readonly string[]): Promise<CommandHelp> {
  const environment = { PATH: process.env.PATH, NO_COLOR: '1' }
  const { stdout } = await promisify(execFile)(process.execPath, [binary, ...words, '--help'], { env: environment })
  const below = await Promise.all(commandsIn(stdout).map((word) => helpOf(binary, [...words, word])))
  return { name: ['turnpike', ...words].join(' '), text: stdout, below }
}

function commandsIn(help: string): string[] {
  const [, list = ''] = help.split('\nCommands:\n')
  const words = [...list.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, word = '']) => word)
  return words.filter((word) => word !== 'help')
}
