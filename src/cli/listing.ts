import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Command } from 'commander'

/** Command as it appears in a list of commands. */
interface Listed {
  readonly name: string
  /** Name with options and arguments. */
  readonly term: string
  readonly description: string
}

/** File with the gateway's own commands and those of built-in plugins; written with the bundle. */
const FILE = new URL('../commands.json', import.meta.url)

/** Writes the list of a program's commands beside the bundle. */
export function writeListing(program: Command): void {
  writeFileSync(FILE, JSON.stringify(listingOf(program)))
}

/** Returns the list that was written with the bundle; `undefined` when running from sources. */
export function readListing(): readonly Listed[] | undefined {
  if (import.meta.filename.endsWith('.ts') || !existsSync(FILE)) return undefined
  return JSON.parse(readFileSync(FILE, 'utf8'))
}

/** Returns a program's commands in their order. */
export function listingOf(program: Command): readonly Listed[] {
  const help = program.createHelp()
  return program.commands.map((command) => ({
    name: command.name(),
    term: help.subcommandTerm(command),
    description: help.subcommandDescription(command),
  }))
}

/** Adds commands that can be listed but not run: for the help of the whole program, without importing each. */
export function addListed(program: Command, listing: readonly Listed[]): void {
  const help = program.createHelp()
  const terms = new Map(listing.map(({ name, term }) => [name, term]))
  program.configureHelp({ subcommandTerm: (command) => terms.get(command.name()) ?? help.subcommandTerm(command) })
  for (const { name, description } of listing) program.command(name).description(description)
}
