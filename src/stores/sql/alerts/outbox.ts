import { type Kysely, sql } from 'kysely'
import type {
  Alert,
  AlertDetails,
  DeliveryResult,
  DueDelivery,
  ListedAlert,
  RoutedAlert,
  StoredAlert,
} from '../../../core/ports/alerts.ts'
import type { Command, Moment } from '../engine/command.ts'
import type { Database } from '../schema.ts'
import type { AlertTable } from './schema.ts'

/** Thirteen months: no window of a cap is longer. */
const FOREVER_MS = 400 * 86_400_000
/** Alerts stay listed for a quarter of a year. */
const KEPT_MS = 90 * 86_400_000
const PRUNED_AT_ONCE = 200

/** Stores alerts that are not quiet, with their deliveries; returns their ids. The row of the dedupe key decides. */
export const raiseAlerts: Command<readonly RoutedAlert[], string[]> = async (db, alerts, now) => {
  const raised: string[] = []
  // In one order, which prevents deadlocks.
  for (const alert of alerts.toSorted((a, b) => (markOf(a) < markOf(b) ? -1 : 1))) {
    const isNews = alert.ends === undefined ? await mark(db, alert, now) : await unmark(db, alert.ends)
    if (!isNews) continue
    await store(db, alert, now)
    raised.push(alert.id)
  }
  return raised
}

function markOf({ dedupeKey, ends = dedupeKey }: RoutedAlert): string {
  return ends
}

async function mark(db: Kysely<Database>, { dedupeKey, quietMs }: Alert, now: Moment): Promise<boolean> {
  const repeats_at_ms = after(now, quietMs ?? FOREVER_MS)
  const row = await db
    .insertInto('alert_mark')
    .values({ dedupe_key: dedupeKey, repeats_at_ms })
    .onConflict((conflict) =>
      conflict
        .column('dedupe_key')
        .doUpdateSet((of) => ({ repeats_at_ms: of.ref('excluded.repeats_at_ms') }))
        .where('alert_mark.repeats_at_ms', '<=', now),
    )
    .returning('dedupe_key')
    .executeTakeFirst()
  return row !== undefined
}

async function unmark(db: Kysely<Database>, key: string): Promise<boolean> {
  const row = await db.deleteFrom('alert_mark').where('dedupe_key', '=', key).returning('dedupe_key').executeTakeFirst()
  return row !== undefined
}

async function store(db: Kysely<Database>, alert: RoutedAlert, now: Moment): Promise<void> {
  const { id, kind, severity, subject, title, details, channels } = alert
  await db
    .insertInto('alert')
    .values({ id, at_ms: now, kind, severity, subject, title, details: JSON.stringify(details) })
    .execute()
  if (channels.length === 0) return
  const rows = channels.map((channel) => ({
    alert_id: id,
    channel,
    state: 'due' as const,
    tries: 0,
    due_at_ms: now,
    error: null,
    sent_at_ms: null,
  }))
  await db.insertInto('alert_delivery').values(rows).execute()
}

/** Deliveries to take: those of these channels, for so many milliseconds. */
export interface TakeOrder {
  readonly channels: readonly string[]
  readonly leaseMs: number
  readonly most: number
}

/** Takes due deliveries, the oldest first; each is due again when its lease ends. */
export const takeDeliveries: Command<TakeOrder, DueDelivery[]> = async (db, { channels, leaseMs, most }, now) => {
  const due = await db
    .selectFrom('alert_delivery')
    .select(['alert_id', 'channel'])
    .where('state', '=', 'due')
    .where('due_at_ms', '<=', now)
    .where('channel', 'in', channels)
    .orderBy('due_at_ms')
    .limit(most)
    .execute()
  if (due.length === 0) return []
  // Checks again on the locked rows: another process may have taken them since they were selected.
  const taken = await db
    .updateTable('alert_delivery')
    .set((of) => ({ tries: of('tries', '+', 1), due_at_ms: after(now, leaseMs) }))
    .where((is) => is.or(due.map(({ alert_id, channel }) => is.and({ alert_id, channel }))))
    .where('state', '=', 'due')
    .where('due_at_ms', '<=', now)
    .returning(['alert_id', 'channel', 'tries'])
    .execute()
  if (taken.length === 0) return []
  const ids = taken.map(({ alert_id }) => alert_id)
  const rows = await db.selectFrom('alert').selectAll().where('id', 'in', ids).execute()
  const alerts = new Map(rows.map((row) => [row.id, toAlert(row)]))
  return taken.flatMap(({ alert_id, channel, tries }) => {
    const alert = alerts.get(alert_id)
    return alert === undefined ? [] : [{ channel, tries: Number(tries), alert }]
  })
}

/** Records outcomes of tries. */
export const settleDeliveries: Command<readonly DeliveryResult[], void> = async (db, results, now) => {
  for (const result of results) {
    await db
      .updateTable('alert_delivery')
      .set({
        state: result.state,
        error: result.state === 'sent' ? null : result.error,
        ...(result.state === 'sent' && { sent_at_ms: now }),
        ...(result.state === 'due' && { due_at_ms: after(now, result.retryMs) }),
      })
      .where('alert_id', '=', result.alertId)
      .where('channel', '=', result.channel)
      .where('state', '=', 'due')
      .execute()
  }
}

/** Lists the latest alerts with their deliveries, newest first. */
export const listAlerts: Command<{ most: number }, ListedAlert[]> = async (db, { most }) => {
  const rows = await db
    .selectFrom('alert')
    .selectAll()
    .orderBy('at_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(most)
    .execute()
  if (rows.length === 0) return []
  const ids = rows.map(({ id }) => id)
  const deliveries = await db
    .selectFrom('alert_delivery')
    .select(['alert_id', 'channel', 'state', 'tries', 'error', 'sent_at_ms as sentAtMs'])
    .where('alert_id', 'in', ids)
    .orderBy('channel')
    .execute()
  const ofAlert = Map.groupBy(deliveries, ({ alert_id }) => alert_id)
  return rows.map((row) => ({
    ...toAlert(row),
    deliveries: (ofAlert.get(row.id) ?? []).map(({ alert_id: _, ...delivery }) => delivery),
  }))
}

/** Takes or renews a lease; returns false while another holder has it. */
export const leaseAlertWork: Command<{ name: string; holder: string; leaseMs: number }, boolean> = async (
  db,
  { name, holder, leaseMs },
  now,
) => {
  const until_ms = after(now, leaseMs)
  const row = await db
    .insertInto('alert_lease')
    .values({ name, holder, until_ms })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet((of) => ({ holder: of.ref('excluded.holder'), until_ms: of.ref('excluded.until_ms') }))
        .where((is) => is.or([is('alert_lease.holder', '=', holder), is('alert_lease.until_ms', '<=', now)])),
    )
    .returning('name')
    .executeTakeFirst()
  return row !== undefined
}

/** Deletes alerts of more than 90 days ago with their deliveries, and marks that are no longer quiet; at most 200 each. */
export const pruneAlerts: Command<Record<string, never>, number> = async (db, _, now) => {
  const old = await db
    .selectFrom('alert')
    .select('id')
    .where('at_ms', '<', after(now, -KEPT_MS))
    .limit(PRUNED_AT_ONCE)
    .execute()
  const ids = old.map(({ id }) => id)
  if (ids.length > 0) {
    await db.deleteFrom('alert_delivery').where('alert_id', 'in', ids).execute()
    await db.deleteFrom('alert').where('id', 'in', ids).execute()
  }
  const { numDeletedRows } = await db
    .deleteFrom('alert_mark')
    .where('dedupe_key', 'in', (from) =>
      from.selectFrom('alert_mark').select('dedupe_key').where('repeats_at_ms', '<=', now).limit(PRUNED_AT_ONCE),
    )
    // Checks again on the locked rows: the alert may have been raised again since they were selected.
    .where('repeats_at_ms', '<=', now)
    .executeTakeFirstOrThrow()
  return ids.length + Number(numDeletedRows)
}

function after(now: Moment, ms: number) {
  return sql<number>`${now} + cast(${ms} as bigint)`
}

function toAlert({ id, at_ms, kind, severity, subject, title, details }: AlertTable): StoredAlert {
  // Safe: it was written as above.
  return { id, atMs: at_ms, kind, severity, subject, title, details: JSON.parse(details) as AlertDetails }
}
