import type { Kysely, RawBuilder } from 'kysely'
import type { Database } from '../schema.ts'

/** The present, in milliseconds since 1970, as an expression: PostgreSQL's own clock, or the gateway's on SQLite. */
export type Moment = RawBuilder<number>

/**
 * One step on the database. The engine runs it in a transaction, so it begins none of its own; what it throws undoes it
 * wholly. It may be run again from the start when the database asks for that.
 */
export type Command<Input, Output> = (db: Kysely<Database>, input: Input, now: Moment) => Promise<Output>

/** Thrown by a command to undo all it has done and answer `output` all the same: a refusal is an answer, no fault. */
export class Undo<Output> {
  readonly output: Output

  constructor(output: Output) {
    this.output = output
  }
}
