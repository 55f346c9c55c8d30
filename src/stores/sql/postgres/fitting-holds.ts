import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Reservation, SpendHold, WindowStanding } from '../../../core/ports/spend-ledger.ts'
import { type Places, statement } from '../engine/statement.ts'
import type { Database } from '../schema.ts'
import type { AdmissionOrder, AdmissionOutcome } from '../spend/admit.ts'
import type { SpendWindowTable } from '../spend/schema.ts'
import { inLockOrder, type SumsRow, sumsOf } from '../spend/windows.ts'
import { type CallGiven, callGiven, callsWithinQuota, insertCalls, unlessKnown } from './included-calls.ts'
import type { ShortCut } from './short-cuts.ts'

/*
 * DESIGN. Money that fits is held by one statement, and so is money together with a call within its quota, where the
 * general commands take four round trips and one for each window. It is committed by a trip of its own, in time: a server
 * that hangs must not hold money for a request that has been refused. The statement locks the windows in the order of those
 * commands, decides on the locked rows, and changes all or nothing. All other requests are left to the commands, which
 * alone handle refusals, windows without a row, and holds that exist.
 */

/** Does the same as `reserveSpend`. */
export const reserveFitting: ShortCut<SpendHold, Reservation> = async (
  db,
  hold,
  { now, inTransaction, commitInTime },
) => {
  const given = givenOf(hold)
  const rows = given === undefined ? [] : await unlessKnown(commitInTime(() => holdFitting(db, given, now)))
  return rows.length > 0 ? { ok: true, standing: standingOf(hold, rows) } : inTransaction(hold)
}

/** Does the same as `admitSpend`. */
export const admitFitting: ShortCut<AdmissionOrder, AdmissionOutcome> = async (db, order, trip) => {
  const { now, inTransaction, commitInTime } = trip
  const given = givenOf(order.hold)
  const call = callGiven(order.call)
  if (given === undefined || call === undefined) return inTransaction(order)
  const rows = await unlessKnown(commitInTime(() => admitWithinQuota(db, { ...given, ...call }, now)))
  if (rows.length === 0) return inTransaction(order)
  return { spend: { ok: true, standing: standingOf(order.hold, rows) }, call: { ok: true, callCredits: 0 } }
}

interface HoldGiven {
  readonly spendId: string
  readonly amountNanoUsd: number
  readonly spareNanoUsd: number
  readonly spendLeaseMs: number
  /** JSON, in lock order. */
  readonly windows: string
  /** The same as lists: the server plans for a few rows, where for JSON it would assume a hundred. */
  readonly scopes: readonly string[]
  readonly windowIds: readonly string[]
  readonly limits: readonly number[]
}

const HOLD_NAMES = [
  ...(['spendId', 'amountNanoUsd', 'spareNanoUsd', 'spendLeaseMs', 'windows'] as const),
  ...(['scopes', 'windowIds', 'limits'] as const),
]

type Row = Pick<SpendWindowTable, 'scope' | 'window_id'> & SumsRow
type HoldPlaces = Places<{ [Name in keyof HoldGiven]: HoldGiven[Name] }>
type CallPlaces = Places<{ [Name in keyof CallGiven]: CallGiven[Name] }>

/** Returns the parameters; `undefined` for amounts that the command refuses. */
function givenOf({ holdId, amountNanoUsd, spareNanoUsd = 0, windows, leaseMs }: SpendHold): HoldGiven | undefined {
  if (!Number.isSafeInteger(amountNanoUsd) || amountNanoUsd < 0 || !Number.isSafeInteger(spareNanoUsd)) return undefined
  const ordered = inLockOrder(windows, (window) => window)
  return {
    spendId: holdId,
    amountNanoUsd,
    spareNanoUsd,
    spendLeaseMs: leaseMs,
    windows: JSON.stringify(ordered),
    scopes: ordered.map(({ scope }) => scope),
    windowIds: ordered.map(({ window }) => window),
    limits: ordered.map(({ limitNanoUsd }) => limitNanoUsd),
  }
}

function standingOf({ windows }: SpendHold, rows: readonly Row[]): WindowStanding[] {
  return inLockOrder(windows, (window) => window).map((window) => {
    const row = rows.find(({ scope, window_id }) => scope === window.scope && window_id === window.window)
    return { ...window, ...sumsOf(row, window.isBudget) }
  })
}

/** The windows, locked, and `fit`: true when the amount and the spare fit in all of them. */
const fitting = ({ scopes, windowIds, limits, amountNanoUsd, spareNanoUsd }: HoldPlaces): RawBuilder<unknown> => sql`
  given as materialized (
    select * from unnest(${scopes}::text[], ${windowIds}::text[], ${limits}::bigint[]) as each (scope, window_id, most)
  ), locked as materialized (
    select used.settled_nano_usd + used.held_nano_usd - used.raised_nano_usd as spent, given.most
    from spend_window as used join given using (scope, window_id)
    order by used.window_id collate "C", used.scope collate "C" for update of used
  ), fitting as materialized (
    select count(*) = (select count(*) from given) as fit from locked
    where spent + ${amountNanoUsd}::bigint + ${spareNanoUsd}::bigint <= most
  )`

/** Holds the amount in the windows, and inserts its row, where `condition` is true. */
const holding = (
  { spendId, amountNanoUsd, spendLeaseMs, windows }: HoldPlaces,
  condition: RawBuilder<unknown>,
  now: RawBuilder<number>,
): RawBuilder<unknown> => sql`
  held as (
    update spend_window as used set
      held_nano_usd = used.held_nano_usd + ${amountNanoUsd}::bigint,
      limit_nano_usd = given.most,
      used_day = case when used.used_day is not null then ${now} / 86400000 end
    from given
    where used.scope = given.scope and used.window_id = given.window_id and ${condition}
    returning used.scope, used.window_id, used.settled_nano_usd, used.held_nano_usd, used.raised_nano_usd,
      used.begun_at_ms
  ), entered as (
    insert into spend_hold (id, state, previous_state, amount_nano_usd, previous_amount_nano_usd, cost_nano_usd, windows,
      due_at_ms)
    select ${spendId}, 'open', 'open', ${amountNanoUsd}::bigint, 0, null, ${windows}, ${now} + ${spendLeaseMs}::bigint
    where ${condition}
    returning 1
  )`

const FIT = sql`(select fit from fitting)`
const FIT_AND_COUNTED = sql`(select fit from fitting) and (select count(*) from counted) = 1`
const HELD = sql`select scope, window_id, settled_nano_usd, held_nano_usd, raised_nano_usd, begun_at_ms from held`

const holdFitting = statement(HOLD_NAMES, (db: Kysely<Database>, given: HoldPlaces, now) => ({
  compile: () => sql<Row>`with ${fitting(given)}, ${holding(given, FIT, now)} ${HELD}`.compile(db),
}))

const admitWithinQuota = statement(
  [...HOLD_NAMES, 'holdId', 'accountId', 'calls', 'leaseMs', 'included'],
  (db: Kysely<Database>, given: HoldPlaces & CallPlaces, now) => ({
    compile: () =>
      sql<Row>`with ${fitting(given)}, ${callsWithinQuota(given, FIT, now)}, ${holding(given, FIT_AND_COUNTED, now)},
        called as (${insertCalls(given, now)} returning 1) ${HELD}`.compile(db),
  }),
)
