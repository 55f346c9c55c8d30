import { sql } from 'kysely'
import { firstReceiptIdAt } from '../../../core/telemetry/receipt-id.ts'
import type { KeySpend, RecentRefusal } from '../../../core/telemetry/recent.ts'
import type { Command } from '../engine/command.ts'
import { sumOf } from '../engine/sum.ts'

/** Refusals beyond these, the newest, are not counted. */
const MOST_REFUSALS = 5000
/** Keys of one question. */
const MOST_SCOPES = 10_000

/** Sums the spend of keys since the begin of the month and of the day, from the sums of hours. */
export const readKeySpend: Command<{ scopes: readonly string[]; monthMs: number; dayMs: number }, KeySpend[]> = async (
  db,
  { scopes, monthMs, dayMs },
) => {
  if (scopes.length === 0) return []
  return db
    .selectFrom('usage_hour')
    .select([
      'scope',
      sumOf('cost_nano_usd').as('monthNanoUsd'),
      sql<number>`cast(sum(case when hour_ms >= ${dayMs} then cost_nano_usd else 0 end) as bigint)`.as('dayNanoUsd'),
    ])
    .where('scope', 'in', scopes.slice(0, MOST_SCOPES))
    .where('hour_ms', '>=', monthMs)
    .groupBy('scope')
    .execute()
}

/** Lists the newest refusals since a moment, at most 5,000. */
export const listRefusals: Command<{ sinceMs: number }, RecentRefusal[]> = async (db, { sinceMs }) => {
  const rows = await db
    .selectFrom('usage_request')
    .select(['key_id as keyId', 'user_id as userId', 'team_id as teamId', 'tags', 'reason', 'started_at_ms as atMs'])
    .where('reason', 'is not', null)
    .where('id', '>=', firstReceiptIdAt(sinceMs))
    .orderBy('id', 'desc')
    .limit(MOST_REFUSALS)
    .execute()
  return rows.map(({ tags, reason, ...row }) => ({
    ...row,
    reason: reason ?? '',
    // Safe: a list was written.
    tags: tags === null ? [] : (JSON.parse(tags) as string[]),
  }))
}
