import type { Kysely, RawBuilder } from 'kysely'
import type { Database } from '../schema.ts'

/** The present, in milliseconds since 1970, as an expression: PostgreSQL's own clock, or the gateway's on SQLite. */
export type Moment = RawBuilder<number>

/**
 * One operation on the database. The engine runs it in a transaction, so it begins none of its own; an error rolls it back
 * entirely. It may be retried from the start when the database requires that.
 */
export type Command<Input, Output> = (db: Kysely<Database>, input: Input, now: Moment) => Promise<Output>

/** Thrown by a command to roll back and return `output` nevertheless: a refusal is a result, not a fault. */
export class Undo<Output> {
  readonly output: Output

  constructor(output: Output) {
    this.output = output
  }
}
