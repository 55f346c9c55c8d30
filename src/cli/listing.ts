import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Command } from 'commander'

/** A command as a list of commands shows it. */
interface Listed {
  readonly name: string
  /** Its name with its options and arguments. */
  readonly term: string
  readonly description: string
}

/** Of the gateway's own commands and those of built-in plugins; written with the bundle. */
const FILE = new URL('../commands.json', import.meta.url)

/** Writes the list of a program's commands beside the bundle. */
export function writeListing(program: Command): void {
  writeFileSync(FILE, JSON.stringify(listingOf(program)))
}

/** The list that was written with the bundle; `undefined` where the sources run. */
export function readListing(): readonly Listed[] | undefined {
  if (import.meta.filename.endsWith('.ts') || !existsSync(FILE)) return undefined
  return JSON.parse(readFileSync(FILE, 'utf8'))
}

/** The list of a program's commands in their order. */
export function listingOf(program: Command): readonly Listed[] {
  const help = program.createHelp()
  return program.commands.map((command) => ({
    name: command.name(),
    term: help.subcommandTerm(command),
    description: help.subcommandDescription(command),
  }))
}

/** Adds commands that can be listed and not run: for the help of the whole program, without an import of each. */
export function addListed(program: Command, listing: readonly Listed[]): void {
  const help = program.createHelp()
  const terms = new Map(listing.map(({ name, term }) => [name, term]))
  program.configureHelp({ subcommandTerm: (command) => terms.get(command.name()) ?? help.subcommandTerm(command) })
  for (const { name, description } of listing) program.command(name).description(description)
}
