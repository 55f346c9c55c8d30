import type { Kysely } from 'kysely'
import type { CommandInput, CommandName, CommandOutput } from '../commands.ts'
import type { Moment } from '../engine/command.ts'
import type { Database } from '../schema.ts'
import { appendReceipts } from './append-receipts.ts'
import { admitFitting, reserveFitting } from './fitting-holds.ts'
import { endIncluded, takeIncluded } from './included-calls.ts'
import { settleOpen } from './open-ends.ts'

/** Context of a short cut. */
export interface Trip<Input, Output> {
  readonly now: Moment
  /** Runs the command itself, on the same connection. */
  readonly inTransaction: (input: Input) => Promise<Output>
  /** Runs `work` as a transaction, which is not committed after the caller's time-out. */
  readonly commitInTime: <Result>(work: () => Promise<Result>) => Promise<Result>
}

/** Performs a command by one statement where possible; leaves other cases to the command. */
export type ShortCut<Input, Output> = (db: Kysely<Database>, input: Input, trip: Trip<Input, Output>) => Promise<Output>

/** Short cuts, by the command they replace. */
export const shortCuts: { [Name in CommandName]?: ShortCut<CommandInput<Name>, CommandOutput<Name>> } = {
  'receipt.put': appendReceipts,
  'spend.reserve': reserveFitting,
  'spend.admit': admitFitting,
  'spend.settle': settleOpen,
  'ledger.take': takeIncluded,
  'ledger.end': endIncluded,
}
