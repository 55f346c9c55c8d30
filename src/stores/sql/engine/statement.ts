import { type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely'
import type { Database } from '../schema.ts'
import type { Moment } from './command.ts'

/** Values of a statement's parameters. */
type Values = Readonly<Record<string, string | number | null>>

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

/**
 * Declares a statement whose text is built once for each connection, since building it costs several times as much as
 * running it. `build` gets placeholders instead of values, so it cannot depend on them.
 */
export function statement<Given extends Values, Row>(
  names: readonly (keyof Given & string)[],
  build: (db: Kysely<Database>, given: Places<Given>, now: Moment) => Compilable<Row>,
): (db: Kysely<Database>, given: Given, now?: Moment) => Promise<Row[]> {
  const texts = new WeakMap<Kysely<Database>, CompiledQuery<Row>>()
  // The cast is safe: there is a placeholder for each of the names.
  const places = Object.fromEntries(names.map((name) => [name, sql`${new Place(name)}`])) as Places<Given>
  return async (db, given, now = NO_MOMENT) => {
    let text = texts.get(db)
    if (text === undefined) {
      text = build(db, places, now).compile()
      texts.set(db, text)
    }
    const parameters = text.parameters.map((value) => (value instanceof Place ? given[value.name] : value))
    return (await db.executeQuery<Row>({ ...text, parameters })).rows
  }
}
