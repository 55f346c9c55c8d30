import { type RawBuilder, sql } from 'kysely'

/** The largest exact number of JavaScript. */
const LARGEST = sql.lit(Number.MAX_SAFE_INTEGER)

/**
 * Sums a column, clamped to the largest exact number: a larger one would make the whole reply unreadable. PostgreSQL's sum of
 * whole numbers is a decimal, which would arrive as text.
 */
export function sumOf(column: string): RawBuilder<number> {
  const sum = sql`sum(${sql.ref(column)})`
  return sql`cast(case when ${sum} > ${LARGEST} then ${LARGEST} when ${sum} < -${LARGEST} then -${LARGEST} else ${sum} end as bigint)`
}
