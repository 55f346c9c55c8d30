import type { Kysely } from 'kysely'
import type { CommandInput, CommandName, CommandOutput } from '../commands.ts'
import type { Moment } from '../engine/command.ts'
import type { Database } from '../schema.ts'
import { endIncluded, takeIncluded } from './included-calls.ts'

/** What a short cut is run with. */
export interface Trip<Input, Output> {
  readonly now: Moment
  /** Runs the command itself, on the same connection. */
  readonly inTransaction: (input: Input) => Promise<Output>
}

/** Does with one statement, a transaction by itself, what it can of a command; the rest it leaves to the command. */
export type ShortCut<Input, Output> = (db: Kysely<Database>, input: Input, trip: Trip<Input, Output>) => Promise<Output>

/** What is run in place of the commands of those names. */
export const shortCuts: { [Name in CommandName]?: ShortCut<CommandInput<Name>, CommandOutput<Name>> } = {
  'ledger.take': takeIncluded,
  'ledger.end': endIncluded,
}
