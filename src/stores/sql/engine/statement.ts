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

/** Builds a query with placeholders instead of values. */
type Build<Given extends Values, Row> = (db: Kysely<Database>, given: Places<Given>, now: Moment) => Compilable<Row>

/**
 * Declares a statement whose text is built once for each connection, since building it costs several times as much as
 * running it. `build` gets placeholders instead of values, so it cannot depend on them.
 */
export function statement<Given extends Values, Row>(
  names: readonly (keyof Given & string)[],
  build: Build<Given, Row>,
): (db: Kysely<Database>, given: Given, now?: Moment) => Promise<Row[]> {
  return declare(
    names,
    build,
    ({ parameters }) =>
      (given: Given) =>
        parameters.map((value) => (value instanceof Place ? given[value.name] : value)),
  )
}

/** As `statement`, for a row whose values are in the order of `names`; its parameters are values alone. */
export function rowStatement<Given extends Values, Row>(
  names: readonly (keyof Given & string)[],
  build: Build<Given, Row>,
): (db: Kysely<Database>, row: readonly (string | number | null)[]) => Promise<Row[]> {
  return declare(names, build, ({ parameters }) => {
    const places = parameters.map((value) => names.findIndex((name) => value instanceof Place && value.name === name))
    return (row: readonly unknown[]) => places.map((place) => row[place])
  })
}

function declare<Given extends Values, Row, Input>(
  names: readonly (keyof Given & string)[],
  build: Build<Given, Row>,
  fill: (text: CompiledQuery<Row>) => (input: Input) => readonly unknown[],
): (db: Kysely<Database>, input: Input, now?: Moment) => Promise<Row[]> {
  const runs = new WeakMap<Kysely<Database>, (input: Input) => Row[] | Promise<Row[]>>()
  // The cast is safe: there is a placeholder for each of the names.
  const places = Object.fromEntries(names.map((name) => [name, sql`${new Place(name)}`])) as Places<Given>
  return async (db, input, now = NO_MOMENT) => {
    let run = runs.get(db)
    if (run === undefined) {
      const text = build(db, places, now).compile()
      const parametersOf = fill(text)
      const execute = executorOf(db, text)
      run = (each) => execute(parametersOf(each))
      runs.set(db, run)
    }
    return run(input)
  }
}

function executorOf<Row>(
  db: Kysely<Database>,
  text: CompiledQuery<Row>,
): (parameters: readonly unknown[]) => Row[] | Promise<Row[]> {
  const direct = preparers.get(db)?.(text.sql)
  // The cast is safe: Kysely has built the text for such rows.
  if (direct !== undefined) return (parameters) => direct(parameters) as Row[]
  return async (parameters) => (await db.executeQuery<Row>({ ...text, parameters })).rows
}
