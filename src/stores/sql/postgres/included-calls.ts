import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { CallEnd, CallEndOutcome, CallOrder, CallReservation } from '../../../core/ports/calls.ts'
import { ENDED_KEPT_MS } from '../credits/end.ts'
import { sqlStateOf } from '../engine/faults.ts'
import { type Places, statement } from '../engine/statement.ts'
import type { Database } from '../schema.ts'
import type { ShortCut } from './short-cuts.ts'

/*
 * DESIGN. Calls within a quota, which are nearly all, are held by one statement and ended by one, where the general
 * commands take five round trips and more. Rows are locked for no longer than a statement runs, so that the requests
 * of one account block each other less. All other calls are left to those commands, which alone handle
 * refusals, credits, the first call of a period, leases that are renewed or have ended.
 */

const UNIQUE_VIOLATION = '23505'

/** Does the same as `takeCalls`. */
export const takeIncluded: ShortCut<CallOrder, CallReservation> = async (db, order, { now, inTransaction }) => {
  const given = callGiven(order)
  const held = given === undefined ? [] : await unlessKnown(holdIncluded(db, given, now))
  return held.length > 0 ? { ok: true, callCredits: 0 } : inTransaction(order)
}

/** Returns no rows when there is a hold of that name: a renewal is left to the command. */
export async function unlessKnown<Row>(inserted: Promise<Row[]>): Promise<Row[]> {
  try {
    return await inserted
  } catch (error) {
    if (sqlStateOf(error) === UNIQUE_VIOLATION) return []
    throw error
  }
}

/** Does the same as `endCalls`; each end is atomic. */
export const endIncluded: ShortCut<readonly CallEnd[], CallEndOutcome[]> = async (db, ends, { now, inTransaction }) => {
  const firsts = new Map<string, CallEnd>()
  for (const end of ends) if (!firsts.has(end.holdId)) firsts.set(end.holdId, end)
  const reported = [...firsts.values()].filter(({ usedCalls }) => Number.isSafeInteger(usedCalls) && usedCalls >= 0)
  const given = JSON.stringify(reported.map(({ holdId, usedCalls }) => ({ id: holdId, used_calls: usedCalls })))
  const ended = new Map((await endOpen(db, { given }, now)).map(({ id, state }) => [id, state]))
  const isEnded = (end: CallEnd): boolean => ended.has(end.holdId) && firsts.get(end.holdId) === end
  const rest = ends.filter((end) => !isEnded(end))
  const outcomes = rest.length > 0 ? await inTransaction(rest) : []
  const others = new Map(rest.map((end, index) => [end, outcomes[index]]))
  return ends.map((end) => others.get(end) ?? ended.get(end.holdId) ?? 'unknown')
}

/** Parameters of a statement that holds calls. */
export interface CallGiven {
  readonly holdId: string
  readonly accountId: string
  readonly calls: number
  readonly leaseMs: number
  /** JSON: the quota of each tier. */
  readonly included: string
}

type CallPlaces = Places<{ [Name in keyof CallGiven]: CallGiven[Name] }>

/** Returns the parameters; `undefined` for a number of calls that the command refuses. */
export function callGiven({ holdId, accountId, calls, leaseMs, plans }: CallOrder): CallGiven | undefined {
  if (!Number.isSafeInteger(calls) || calls < 1) return undefined
  const included = Object.fromEntries(Object.entries(plans).map(([tier, { includedCalls }]) => [tier, includedCalls]))
  return { holdId, accountId, calls, leaseMs, included: JSON.stringify(included) }
}

/** `counted`: the window of an account with enough calls, where `condition` is true. The window is that of `periodOf`. */
export const callsWithinQuota = (
  { accountId, calls, included }: CallPlaces,
  condition: RawBuilder<unknown>,
  now: RawBuilder<number>,
): RawBuilder<unknown> => sql`
  plan as (
    select
      id as account_id,
      (${included}::json ->> tier)::bigint as included_calls,
      case
        when tier = 'free' or period_start_ms is null
          then 'm:' || to_char(statement_timestamp() at time zone 'utc', 'YYYY-MM')
        when period_end_ms is null or ${now} < period_end_ms then 'p:' || period_start_ms
        else 'p:' || period_end_ms
      end as window_id
    from account where id = ${accountId}
  ), counted as (
    update call_window as used set held_calls = held_calls + ${calls}::bigint
    from plan
    where used.account_id = plan.account_id and used.window_id = plan.window_id and ${condition}
      and settled_calls + held_calls + ${calls}::bigint <= included_calls
    returning used.account_id, used.window_id
  )`

/** Inserts the hold of the counted calls. */
export const insertCalls = (
  { holdId, calls, leaseMs }: CallPlaces,
  now: RawBuilder<number>,
): RawBuilder<unknown> => sql`
  insert into credit_hold (id, account_id, window_id, state, previous_state, calls, call_credits, used_calls,
    charged_credits, shortfall_credits, due_at_ms)
  select ${holdId}, account_id, window_id, 'open', 'open', ${calls}::bigint, 0, 0, 0, 0, ${now} + ${leaseMs}::bigint
  from counted`

const holdIncluded = statement(
  ['holdId', 'accountId', 'calls', 'leaseMs', 'included'],
  (db: Kysely<Database>, given: CallPlaces, now) => ({
    compile: () =>
      sql<{
        id: string
      }>`with ${callsWithinQuota(given, sql`true`, now)} ${insertCalls(given, now)} returning id`.compile(db),
  }),
)

/** Ends holds. Windows are locked in the order of `endCalls`, which prevents deadlocks. */
const endOpen = statement(['given'], (db: Kysely<Database>, { given }: Places<{ given: string }>, now) => ({
  compile: () =>
    sql<{ id: string; state: 'posted' | 'voided' }>`
      with ended as (
        update credit_hold as hold set
          previous_state = state,
          state = case when reported.used_calls > 0 then 'posted' else 'voided' end,
          used_calls = reported.used_calls,
          due_at_ms = ${now} + ${sql.lit(ENDED_KEPT_MS)}
        from json_to_recordset(${given}::json) as reported (id text, used_calls bigint)
        where hold.id = reported.id and state = 'open' and call_credits = 0
        returning hold.id, account_id, window_id, state, calls, hold.used_calls
      ), sums as (
        select account_id, window_id, sum(calls)::bigint as calls, sum(used_calls)::bigint as used_calls
        from ended group by account_id, window_id
      ), locked as (
        select 1 from call_window join sums using (account_id, window_id)
        order by account_id, window_id for update of call_window
      ), counted as (
        update call_window as used set settled_calls = settled_calls + sums.used_calls, held_calls = held_calls - sums.calls
        from sums
        where used.account_id = sums.account_id and used.window_id = sums.window_id and (select count(*) from locked) > 0
        returning 1
      )
      select id, state from ended`.compile(db),
}))
