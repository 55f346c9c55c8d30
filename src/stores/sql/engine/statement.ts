import { type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely'
import type { Database } from '../schema.ts'
import type { Moment } from './command.ts'

/** What a statement is given when it runs. */
type Values = Readonly<Record<string, string | number | null>>

/** Where they stand in its text. */
export type Places<Given extends Values> = { readonly [Name in keyof Given]: RawBuilder<Given[Name]> }

class Place {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/** For statements that do not ask for the present; no column takes it. */
const NO_MOMENT: Moment = sql`null`

/** A query of Kysely that has been completed. */
interface Compilable<Row> {
  compile(): CompiledQuery<Row>
}

/**
 * Declares a statement whose text is made once for each connection, since making it costs several times what running it
 * does. `build` is given places in the place of values, so it cannot depend on them.
 */
export function statement<Given extends Values, Row>(
  names: readonly (keyof Given & string)[],
  build: (db: Kysely<Database>, given: Places<Given>, now: Moment) => Compilable<Row>,
): (db: Kysely<Database>, given: Given, now?: Moment) => Promise<Row[]> {
  const texts = new WeakMap<Kysely<Database>, CompiledQuery<Row>>()
  // The cast is safe: there is a place for each of the names.
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
