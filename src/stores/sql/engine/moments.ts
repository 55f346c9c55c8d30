import { type RawBuilder, sql } from 'kysely'
import type { Moment } from './command.ts'

/** Returns a number as an expression of 64 bits: engines differ in how they read a parameter's type. */
export function bigint(value: number | null): RawBuilder<number> {
  return sql<number>`cast(${value} as bigint)`
}

/** Returns the moment that many milliseconds from now. */
export function later(now: Moment, ms: number): RawBuilder<number> {
  return sql<number>`${now} + ${bigint(ms)}`
}

/** Returns the earliest of some moments; those that are null do not count. */
export function earliest(...moments: readonly RawBuilder<unknown>[]): RawBuilder<number> {
  const rows = moments.map((moment) => sql`select ${moment} as at_ms`)
  return sql<number>`(select min(at_ms) from (${sql.join(rows, sql` union all `)}) as moments)`
}
