import type { Command } from 'commander'
import { createWholeProgram } from '../../src/cli/main.ts'
import { GENERATED } from './markdown.ts'

const WIDTH = 80

const INTRODUCTION = `# The \`turnpike\` command

In a clone the command is \`bin/turnpike.mjs\` (\`alias turnpike="$PWD/bin/turnpike.mjs"\`), with the package installed \`npx turnpike\`. It reads the same configuration and environment as the gateway.
[The command line](../command-line.md) shows \`tail\` and \`replay\` at work.`

/** Help of one command and of its subcommands, in the order of the help. */
interface CommandHelp {
  readonly name: string
  readonly text: string
  readonly below: readonly CommandHelp[]
}

/** Renders the reference page of the command line: the output of \`--help\`, command by command. */
export async function commandLinePage(): Promise<string> {
  const { text, below } = helpOf(await createWholeProgram())
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

/** Collects the printed help: Commander adds examples and exit codes only on output. */
function helpOf(command: Command, parents: readonly string[] = []): CommandHelp {
  let text = ''
  command.configureOutput({ writeOut: (piece) => (text += piece), getOutHelpWidth: () => WIDTH }).outputHelp()
  const names = [...parents, command.name()]
  const below = command.createHelp().visibleCommands(command).filter(isNotHelp)
  return { name: names.join(' '), text, below: below.map((inner) => helpOf(inner, names)) }
}

function isNotHelp(command: Command): boolean {
  return command.name() !== 'help'
}
