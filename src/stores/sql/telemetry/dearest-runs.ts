import { type Kysely, type SqlBool, sql } from 'kysely'
import type { UsagePeriod } from '../../../core/telemetry/telemetry.ts'
import type { Database } from '../schema.ts'
import { allOf, type Condition, rowsBetween } from './conditions.ts'
import { plausible } from './figures.ts'

/** Length from which a period's rows are found faster by the index of conversations, which is small, than by their own. */
const LONG_MS = 7 * 86_400_000

/**
 * Returns the condition of the rows of a period's dearest runs, at most so many, in all scopes. Costs alone are read from the
 * index of conversations; sums of all columns would read each row.
 */
export async function dearestRuns(db: Kysely<Database>, period: UsagePeriod, most: number): Promise<Condition> {
  const { fromMs = 0, toMs = Number.POSITIVE_INFINITY } = period
  // SQLite would take the index of ids for any condition of the column by its name.
  const id = toMs - fromMs < LONG_MS ? sql`id` : sql`(id || '')`
  const { rows } = await sql<{ name: string }>`
    with spent as (
      select conversation_id, sum(${plausible('cost_nano_usd')}) as nano_usd, count(*) as requests
      from usage_request where ${allOf(rowsBetween(period, id))} group by conversation_id
    ), root as (
      select conversation_id, min(root_id) as root_id from usage_conversation group by conversation_id
    )
    select coalesce(root_id, spent.conversation_id, '') as name
    from spent left join root on root.conversation_id = spent.conversation_id
    group by 1 order by coalesce(sum(nano_usd), 0) desc, sum(requests) desc, 1 limit ${sql.lit(most)}`.execute(db)
  const names = rows.map(({ name }) => name).filter((name) => name !== '')
  const conditions: Condition[] = []
  if (names.length > 0) {
    const list = sql.join(names)
    conditions.push(sql<SqlBool>`conversation_id in (
      select conversation_id from usage_conversation where root_id in (${list})
      union select conversation_id from usage_request where conversation_id in (${list}))`)
  }
  if (names.length < rows.length) conditions.push(sql`conversation_id is null`)
  return conditions.length === 0 ? sql`1 = 0` : sql`(${sql.join(conditions, sql` or `)})`
}
