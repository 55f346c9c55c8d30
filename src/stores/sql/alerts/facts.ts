import { sql } from 'kysely'
import type { BlockedAccess, CapQuery, CrossedCap } from '../../../core/ports/alerts.ts'
import type { Command } from '../engine/command.ts'

/** Scope of a window of an account's key; its id follows. */
const KEY_SCOPE = 'key:key:'
/** Most alerts of a kind that one reading raises; the next reading finds the others. */
const MOST_AT_ONCE = 100
/** Percent of a cap that must be spent or held for its refusal to count as its end: a single large request is refused earlier. */
const NEARLY_ALL = 80

/** Finds caps of which a share is spent, without an alert of that share: of each cap the highest share. */
export const findCrossedCaps: Command<CapQuery, CrossedCap[]> = async (db, { windows, shares, refused }) => {
  const least = Math.min(...shares, NEARLY_ALL)
  const settled = sql`w.settled_nano_usd * 100`
  const steps = shares.toSorted((a, b) => b - a)
  const passed = steps.map(
    (share) => sql`when ${settled} >= w.limit_nano_usd * ${sql.lit(share)} then ${sql.lit(share)}`,
  )
  const isRefused = refused.map(
    ({ scope, window, limitNanoUsd }) =>
      sql`(w.scope = ${scope} and w.window_id = ${window} and w.limit_nano_usd = ${limitNanoUsd})`,
  )
  const ended =
    isRefused.length === 0
      ? sql``
      : sql`when (${sql.join(isRefused, sql` or `)})
          and (w.settled_nano_usd + w.held_nano_usd) * 100 >= w.limit_nano_usd * ${sql.lit(NEARLY_ALL)} then 100`
  const { rows } = await sql<CrossedCap>`
    select c.scope as "scope", c.window_id as "window", c.share as "share", c.settled_nano_usd as "settledNanoUsd",
      c.limit_nano_usd as "limitNanoUsd", coalesce(k.name, t.name, a.name) as "ownerName"
    from (
      select w.scope, w.window_id, w.settled_nano_usd, w.limit_nano_usd, case ${ended} ${sql.join(passed, sql` `)} end as share
      from spend_window as w
      where w.window_id in (${sql.join(windows)}) and w.used_day is null and w.limit_nano_usd > 0
        and (w.settled_nano_usd + w.held_nano_usd) * 100 >= w.limit_nano_usd * ${sql.lit(least)}
    ) as c
    left join api_key as k on c.scope = ${sql.lit(KEY_SCOPE)} || k.id
    left join team as t on c.scope = 'team:' || t.id
    left join account as a on c.scope = 'user:' || a.id
    where c.share is not null and not exists (
      select 1 from alert_mark as m where m.dedupe_key = 'cap:' || c.share || ':' || c.scope || ':' || c.window_id
    )
    order by c.share desc, c.scope limit ${sql.lit(MOST_AT_ONCE)}`.execute(db)
  return rows.map((row) => ({
    ...row,
    share: Number(row.share),
    settledNanoUsd: Number(row.settledNanoUsd),
    limitNanoUsd: Number(row.limitNanoUsd),
  }))
}

/** Finds audit entries of these actions without an alert, oldest first. */
export const findBlockedAccess: Command<{ sinceMs: number; actions: readonly string[] }, BlockedAccess[]> = (
  db,
  { sinceMs, actions },
) =>
  db
    .selectFrom('audit_entry')
    .select(['id', 'at_ms as atMs', 'action', 'subject', 'actor', 'account_id as accountId'])
    .where('at_ms', '>=', sinceMs)
    .where('action', 'in', actions)
    .where((is) =>
      is.not(
        is.exists((of) =>
          of
            .selectFrom('alert_mark')
            .select('dedupe_key')
            .where('dedupe_key', '=', sql<string>`'blocked:' || audit_entry.id`),
        ),
      ),
    )
    .orderBy('at_ms')
    .orderBy('id')
    .limit(MOST_AT_ONCE)
    .execute()
