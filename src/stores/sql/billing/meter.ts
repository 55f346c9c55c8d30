import { sql } from 'kysely'
import type { MeterReport } from '../../../core/ports/billing.ts'
import type { Command } from '../engine/command.ts'
import type { MeterReportTable } from './schema.ts'

const HOUR_MS = 60 * 60_000
/** Calls of an hour that end this much later still count with it. */
const GRACE_MS = 2 * 60_000
/** Age beyond which the provider accepts no report. */
const OLDEST_MS = 35 * 24 * HOUR_MS
const LEASE_MS = 60_000
const LONGEST_WAIT_MS = HOUR_MS
const MOST_AT_ONCE = 100

/** Records, for hours that have ended, the calls that no report has yet. */
export const collectMeterReports: Command<null, void> = async (db, _, now) => {
  const hours = await db
    .selectFrom('overage_hour as hour')
    .leftJoin(
      (from) =>
        from
          .selectFrom('meter_report')
          .select(({ fn }) => [
            'account_id',
            'hour_ms',
            fn.sum<number>('calls').as('reported'),
            fn.max('part').as('parts'),
          ])
          .groupBy(['account_id', 'hour_ms'])
          .as('report'),
      (join) => join.onRef('report.account_id', '=', 'hour.account_id').onRef('report.hour_ms', '=', 'hour.hour_ms'),
    )
    .select(['hour.account_id', 'hour.hour_ms', 'hour.calls', 'report.reported', 'report.parts'])
    .where((is) => is('hour.hour_ms', '<', is(now, '-', HOUR_MS + GRACE_MS)))
    .where((is) => is('hour.hour_ms', '>', is(now, '-', OLDEST_MS)))
    .where((is) => is('hour.calls', '>', is.fn.coalesce('report.reported', sql<number>`0`)))
    .orderBy('hour.hour_ms')
    .limit(MOST_AT_ONCE)
    .execute()
  for (const { account_id, hour_ms, calls, reported, parts } of hours) {
    const part = Number(parts ?? 0) + 1
    await db
      .insertInto('meter_report')
      .values({
        id: part === 1 ? `ov:${account_id}:${hour_ms}` : `ov:${account_id}:${hour_ms}:${part}`,
        account_id,
        hour_ms,
        part,
        calls: calls - Number(reported ?? 0),
        state: 'pending',
        attempts: 0,
        tried_at_ms: null,
        next_at_ms: now,
      })
      // Another instance was faster.
      .onConflict((conflict) => conflict.columns(['account_id', 'hour_ms', 'part']).doNothing())
      .execute()
  }
}

/** Returns due reports, with the time of their first try, which is recorded before it is made. */
export const takeMeterReports: Command<null, MeterReport[]> = async (db, _, now) => {
  const due = await db
    .selectFrom('meter_report')
    .selectAll()
    .select((of) =>
      of
        .selectFrom('meter_report as earlier')
        .select(({ fn }) => fn.sum<number>('earlier.calls').as('calls'))
        .whereRef('earlier.account_id', '=', 'meter_report.account_id')
        .whereRef('earlier.hour_ms', '=', 'meter_report.hour_ms')
        .whereRef('earlier.part', '<=', 'meter_report.part')
        .as('calls_so_far'),
    )
    .where('state', '=', 'pending')
    .where('next_at_ms', '<=', now)
    .orderBy('next_at_ms')
    .limit(MOST_AT_ONCE)
    .execute()
  const taken: MeterReport[] = []
  for (const report of due) {
    const { id, attempts, next_at_ms } = report
    const waitMs = Math.min(LEASE_MS * 2 ** attempts, LONGEST_WAIT_MS)
    const row = await db
      .updateTable('meter_report')
      .set((of) => ({
        attempts: of('attempts', '+', 1),
        next_at_ms: of(now, '+', waitMs),
        tried_at_ms: of.fn.coalesce('tried_at_ms', now),
      }))
      .where('id', '=', id)
      .where('state', '=', 'pending')
      .where('next_at_ms', '=', next_at_ms)
      .returning('id')
      .executeTakeFirst()
    if (row !== undefined) taken.push(toReport(report))
  }
  return taken
}

function toReport(row: MeterReportTable & { calls_so_far: number | null }): MeterReport {
  return {
    id: row.id,
    accountId: row.account_id,
    hourMs: row.hour_ms,
    part: row.part,
    calls: row.calls,
    callsSoFar: Number(row.calls_so_far ?? row.calls),
    triedAtMs: row.tried_at_ms,
  }
}

/** Ends a report that has arrived, or no longer can. */
export const endMeterReport: Command<{ id: string; state: 'sent' | 'lost' }, void> = async (db, { id, state }) => {
  await db.updateTable('meter_report').set({ state }).where('id', '=', id).execute()
}
