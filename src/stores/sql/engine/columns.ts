import { type CreateTableBuilder, type RawBuilder, sql } from 'kysely'

/** A table under construction. */
export type Table = CreateTableBuilder<string, string>

/** The largest exact number of JavaScript. */
export const LARGEST = sql.lit(Number.MAX_SAFE_INTEGER)

/** Adds required text columns. */
export function addTexts(table: Table, names: readonly string[]): Table {
  return names.reduce((table, name) => table.addColumn(name, 'text', (column) => column.notNull()), table)
}

/** Adds columns of whole numbers from 0, such as money; the database itself refuses any other value. */
export function addCounts(table: Table, names: readonly string[]): Table {
  const isCount = (name: string) => sql`${sql.ref(name)} between 0 and ${LARGEST}`
  return names.reduce(
    (table, name) => table.addColumn(name, 'bigint', (column) => column.notNull().check(isCount(name))),
    table,
  )
}

/**
 * Sums a column, clamped to the largest exact number: a larger one would make the whole reply unreadable. PostgreSQL's sum of
 * whole numbers is a decimal, which would arrive as text.
 */
export function sumOf(column: string): RawBuilder<number> {
  const sum = sql`sum(${sql.ref(column)})`
  return sql`cast(case when ${sum} > ${LARGEST} then ${LARGEST} when ${sum} < -${LARGEST} then -${LARGEST} else ${sum} end as bigint)`
}
