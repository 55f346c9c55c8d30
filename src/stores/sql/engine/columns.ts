import { type CreateTableBuilder, sql } from 'kysely'

/** A table that is being described. */
export type Table = CreateTableBuilder<string, string>

/** Beyond it a number of JavaScript is no longer exact. */
export const LARGEST = sql.lit(Number.MAX_SAFE_INTEGER)

/** Adds columns of text that is always there. */
export function addTexts(table: Table, names: readonly string[]): Table {
  return names.reduce((table, name) => table.addColumn(name, 'text', (column) => column.notNull()), table)
}

/** Adds columns of whole numbers from 0, money among them; the database itself refuses any other value. */
export function addCounts(table: Table, names: readonly string[]): Table {
  const isCount = (name: string) => sql`${sql.ref(name)} between 0 and ${LARGEST}`
  return names.reduce(
    (table, name) => table.addColumn(name, 'bigint', (column) => column.notNull().check(isCount(name))),
    table,
  )
}
