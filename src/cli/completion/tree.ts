import type { Command, Option } from 'commander'

/** What may stand at a place of the command line. */
export type Values =
  | { readonly kind: 'words'; readonly words: readonly string[] }
  | { readonly kind: 'file' | 'pipeline' | 'free' }

/** A word with what it does, for shells that show it. */
export interface Suggestion {
  readonly word: string
  readonly summary: string
}

/** What can follow one command. */
export interface CompletionNode {
  /** The words before it, each after a space: ` plugin list`; empty for the program. */
  readonly route: string
  readonly commands: readonly Suggestion[]
  readonly options: readonly Suggestion[]
  /** What follows an option that takes a value, by each of its spellings. */
  readonly valuesOf: ReadonlyMap<string, Values>
  /** What its first argument may be. */
  readonly argument: Values | undefined
}

const FILES = /^(file|folder|directory|path)$/
const PIPELINES = /^(string|pipeline)$/

/** All commands, the program first, in the order of its help. */
export function completionTree(command: Command, route = ''): CompletionNode[] {
  const help = command.createHelp()
  const [commands, options] = [[...help.visibleCommands(command)], help.visibleOptions(command)]
  const node: CompletionNode = {
    route,
    commands: commands.map((one) => ({ word: one.name(), summary: firstSentence(one.description()) })),
    options: options.flatMap(spellings),
    valuesOf: new Map(options.flatMap((option) => valuesEntries(option))),
    argument: command.registeredArguments.map((one) => valuesFor(one.name(), one.argChoices)).at(0),
  }
  const own = commands.filter((one) => one.name() !== 'help')
  return [node, ...own.flatMap((one) => completionTree(one, `${route} ${one.name()}`))]
}

function spellings({ long, short, description }: Option): Suggestion[] {
  return [long, short].flatMap((word) => (word ? [{ word, summary: firstSentence(description) }] : []))
}

function valuesEntries(option: Option): [string, Values][] {
  if (!option.required && !option.optional) return []
  const placeholder = /[<[]([^>\]]+)[>\]]/.exec(option.flags)?.[1] ?? ''
  const values = valuesFor(placeholder, option.argChoices)
  return [option.long, option.short].flatMap((word): [string, Values][] => (word ? [[word, values]] : []))
}

function valuesFor(placeholder: string, choices: readonly string[] | undefined): Values {
  if (choices !== undefined) return { kind: 'words', words: choices }
  if (FILES.test(placeholder)) return { kind: 'file' }
  return { kind: PIPELINES.test(placeholder) ? 'pipeline' : 'free' }
}

function firstSentence(text: string): string {
  return text.split(/[.;:] |\.$/)[0] ?? ''
}
