import { type Kysely, sql } from 'kysely'
import { sqlStateOf } from '../engine/faults.ts'
import { type Places, statement } from '../engine/statement.ts'
import type { Database } from '../schema.ts'
import { SETTLED_KEPT_MS, type SettleOutcome, type SpendEnd } from '../spend/holds.ts'
import type { ShortCut } from './short-cuts.ts'

const DIVISION_BY_ZERO = '22012'

/**
 * Does the same as `settleSpend`: ends of open holds by one statement, the others by the command. Each end is atomic.
 */
export const settleOpen: ShortCut<readonly SpendEnd[], SettleOutcome[]> = async (db, ends, { now, inTransaction }) => {
  const firsts = new Map<string, SpendEnd>()
  for (const end of ends) if (!firsts.has(end.holdId)) firsts.set(end.holdId, end)
  if (ends.some(({ costNanoUsd }) => !Number.isSafeInteger(costNanoUsd) || costNanoUsd < 0)) return inTransaction(ends)
  const ids = [...firsts.keys()]
  const costs = Array.from(firsts.values(), ({ costNanoUsd }) => costNanoUsd)
  const rows = await endOpen(db, { ids, costs, most: Number.MAX_SAFE_INTEGER }, now).catch((error: unknown) => {
    // A window is gone, or beyond what can be counted: the command finds out which.
    if (sqlStateOf(error) === DIVISION_BY_ZERO) return []
    throw error
  })
  const ended = new Set(rows.map(({ id }) => id))
  const isEnded = (end: SpendEnd): boolean => ended.has(end.holdId) && firsts.get(end.holdId) === end
  const rest = ends.filter((end) => !isEnded(end))
  const outcomes = rest.length > 0 ? await inTransaction(rest) : []
  const others = new Map(rest.map((end, index) => [end, outcomes[index]]))
  return ends.map((end) => others.get(end) ?? 'settled')
}

type EndPlaces = Places<{ ids: readonly string[]; costs: readonly number[]; most: number }>

/** Ends holds. Windows are locked in the order of the commands, which prevents deadlocks. */
const endOpen = statement(['ids', 'costs', 'most'], (db: Kysely<Database>, { ids, costs, most }: EndPlaces, now) => ({
  compile: () =>
    sql<{ id: string }>`
        with ended as (
          update spend_hold as hold set
            previous_state = state,
            state = 'settled',
            cost_nano_usd = reported.cost,
            due_at_ms = ${now} + ${sql.lit(SETTLED_KEPT_MS)}
          from unnest(${ids}::text[], ${costs}::bigint[]) as reported (id, cost)
          where hold.id = reported.id and state = 'open'
          returning hold.id, hold.amount_nano_usd, hold.cost_nano_usd, hold.windows
        ), sums as materialized (
          select each.scope, each."window" as window_id,
            sum(cost_nano_usd)::bigint as cost, sum(amount_nano_usd)::bigint as amount
          from ended, json_to_recordset(windows::json) as each (scope text, "window" text)
          group by 1, 2
        ), locked as materialized (
          select 1 from spend_window as used join sums using (scope, window_id)
          order by used.window_id collate "C", used.scope collate "C" for update of used
        ), counted as (
          update spend_window as used set
            settled_nano_usd = used.settled_nano_usd + sums.cost,
            held_nano_usd = used.held_nano_usd - sums.amount
          from sums
          where used.scope = sums.scope and used.window_id = sums.window_id and (select count(*) from locked) > 0
            and used.settled_nano_usd + used.held_nano_usd + sums.cost - sums.amount <= ${most}::bigint
          returning 1
        )
        select id from ended
        where 1 / (case when (select count(*) from counted) = (select count(*) from sums) then 1 else 0 end) = 1`.compile(
      db,
    ),
}))
