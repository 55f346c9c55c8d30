import type { Command } from 'commander'
import { EXIT_CODES, type ExitCode } from './exit-codes.ts'

/** Sections of a command's help after its options. */
export interface HelpParts {
  /** Command lines as typed, without the prompt. At least one. */
  readonly examples: readonly string[]
  /** Meanings of exit codes that differ from the general ones, or are rare. */
  readonly exits?: Partial<Record<ExitCode, string>>
  /** Further notes; a note without line ends is wrapped. */
  readonly notes?: readonly string[]
}

const examples = new WeakMap<Command, readonly string[]>()
/** Width of a terminal on which help must fit, in columns. */
const WIDTH = 80
const USUAL: readonly ExitCode[] = [0, 1, 2, 78]

/** Adds examples and exit codes to a command's help. */
export function addHelp(command: Command, { notes = [], exits = {}, examples: lines }: HelpParts): Command {
  examples.set(command, lines)
  const codes = [...new Set([...USUAL, ...Object.keys(exits).map(Number)])].toSorted((a, b) => a - b) as ExitCode[]
  const codeLines = codes.map((code) => `  ${String(code).padEnd(2)}  ${exits[code] ?? EXIT_CODES[code]}`)
  const title = lines.length === 1 ? 'Example:' : 'Examples:'
  const shown = lines.map((line) => `  $ ${line}`)
  const wrapped = notes.map((note) => (note.includes('\n') ? note : command.createHelp().boxWrap(note, WIDTH)))
  const parts = [...wrapped, [title, ...shown].join('\n'), ['Exit codes:', ...codeLines].join('\n')]
  return command.addHelpText('after', `\n${parts.join('\n\n')}`)
}

/** Returns the examples of a command's help. */
export function examplesOf(command: Command): readonly string[] {
  return examples.get(command) ?? []
}
