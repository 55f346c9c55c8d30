import { type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely'
import type { Database } from '../schema.ts'
import type { Moment } from './command.ts'

/** Values of a statement's parameters; lists on PostgreSQL alone. */
type Values = Readonly<Record<string, string | number | null | readonly string[] | readonly number[]>>

/** The parameters in its text. */
export type Places<Given extends Values> = { readonly [Name in keyof Given]: RawBuilder<Given[Name]> }

class Place {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/** Time for statements that do not use the present; no column accepts it. */
const NO_MOMENT: Moment = sql`null`

/** A complete query of Kysely. */
interface Compilable<Row> {
  compile(): CompiledQuery<Row>
}

/** Prepares a text on one connection; the function runs it with these parameters and returns its rows. */
export type Prepare = (sql: string) => (parameters: readonly unknown[]) => unknown[]

const preparers = new WeakMap<Kysely<Database>, Prepare>()

/** Lets declared statements on this connection run without Kysely, whose own work takes as long as SQLite's. */
export function prepareDirectly(db: Kysely<Database>, prepare: Prepare): void {
  preparers.set(db, prepare)
}

/**
 * Declares a statement whose text is built once for each connection, since building it costs several times as much as
 * running it. `build` gets placeholders instead of values, so it cannot depend on them.
 */
export function statement<Given extends Values, Row>(
  names: readonly (keyof Given & string)[],
  build: (db: Kysely<Database>, given: Places<Given>, now: Moment) => Compilable<Row>,
): (db: Kysely<Database>, given: Given, now?: Moment) => Promise<Row[]> {
  const runs = new WeakMap<Kysely<Database>, Run<Row>>()
  // The cast is safe: there is a placeholder for each of the names.
  const places = Object.fromEntries(names.map((name) => [name, sql`${new Place(name)}`])) as Places<Given>
  return async (db, given, now = NO_MOMENT) => {
    let run = runs.get(db)
    if (run === undefined) {
      run = runOf(db, build(db, places, now).compile())
      runs.set(db, run)
    }
    return run(given)
  }
}

type Run<Row> = (given: Values) => Row[] | Promise<Row[]>

function runOf<Row>(db: Kysely<Database>, text: CompiledQuery<Row>): Run<Row> {
  const parametersOf = (given: Values) =>
    text.parameters.map((value) => (value instanceof Place ? given[value.name] : value))
  const direct = preparers.get(db)?.(text.sql)
  // The cast is safe: Kysely has built the text for such rows.
  if (direct !== undefined) return (given) => direct(parametersOf(given)) as Row[]
  return async (given) => (await db.executeQuery<Row>({ ...text, parameters: parametersOf(given) })).rows
}
