import type { Command } from 'commander'
import { EXIT_CODES, type ExitCode } from './exit-codes.ts'

/** What stands in a command's help behind its options. */
export interface HelpParts {
  /** Command lines as they are typed, without the prompt. At least one. */
  readonly examples: readonly string[]
  /** What a code means here, where that is more than it always means; and codes that few commands have. */
  readonly exits?: Partial<Record<ExitCode, string>>
  /** What a reader must know besides; without line ends it is wrapped. */
  readonly notes?: readonly string[]
}

const examples = new WeakMap<Command, readonly string[]>()
/** Of a terminal on which help must fit. */
const WIDTH = 80
const USUAL: readonly ExitCode[] = [0, 1, 2, 78]

/** Adds examples and exit codes to a command's help. */
export function addHelp(command: Command, { notes = [], exits = {}, examples: lines }: HelpParts): Command {
  examples.set(command, lines)
  const codes = [...new Set([...USUAL, ...Object.keys(exits).map(Number)])].toSorted((a, b) => a - b) as ExitCode[]
  const told = codes.map((code) => `  ${String(code).padEnd(2)}  ${exits[code] ?? EXIT_CODES[code]}`)
  const title = lines.length === 1 ? 'Example:' : 'Examples:'
  const shown = lines.map((line) => `  $ ${line}`)
  const wrapped = notes.map((note) => (note.includes('\n') ? note : command.createHelp().boxWrap(note, WIDTH)))
  const parts = [...wrapped, [title, ...shown].join('\n'), ['Exit codes:', ...told].join('\n')]
  return command.addHelpText('after', `\n${parts.join('\n\n')}`)
}

/** The examples of a command's help. */
export function examplesOf(command: Command): readonly string[] {
  return examples.get(command) ?? []
}
