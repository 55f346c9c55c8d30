import { type Kysely, sql } from 'kysely'
import type { AuditNote, AuditRecord } from '../../../core/ports/audit.ts'
import type { RecentAudit } from '../../../core/ports/people.ts'
import type { Command, Moment } from '../engine/command.ts'
import type { Database } from '../schema.ts'
import type { AuditEntryTable } from './schema.ts'

const LONGEST_LIST = 1000

/** Records an action with its actor; for commands, whose transaction it joins, so that no action lacks its entry. */
export async function appendAudit(db: Kysely<Database>, note: AuditNote, now: Moment): Promise<void> {
  const { id, accountId, actor, action, subject, details = {} } = note
  await db
    .insertInto('audit_entry')
    .values({
      id,
      at_ms: now,
      account_id: accountId,
      actor,
      action,
      subject,
      details: JSON.stringify(details),
    })
    .execute()
}

/** Filter of a list of entries. */
export interface AuditQuery {
  readonly accountId?: string | undefined
  readonly sinceMs?: number | undefined
  /** The last entry seen. */
  readonly after?: { readonly atMs: number; readonly id: string } | undefined
}

/** Lists audit entries, oldest first, at most 1,000. */
export const listAudit: Command<AuditQuery, AuditRecord[]> = async (db, { accountId, sinceMs, after }) => {
  let query = db.selectFrom('audit_entry').selectAll().orderBy('at_ms').orderBy('id').limit(LONGEST_LIST)
  if (accountId !== undefined) query = query.where('account_id', '=', accountId)
  if (sinceMs !== undefined) query = query.where('at_ms', '>=', sinceMs)
  if (after !== undefined)
    query = query.where((is) =>
      is.or([is('at_ms', '>', after.atMs), is.and([is('at_ms', '=', after.atMs), is('id', '>', after.id)])]),
    )
  return (await query.execute()).map(toRecord)
}

/** Lists audit entries, newest first. */
export const listRecentAudit: Command<RecentAudit, AuditRecord[]> = async (db, { accountId, after, limit }) => {
  let query = db
    .selectFrom('audit_entry')
    .selectAll()
    .orderBy('at_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(Math.min(limit, LONGEST_LIST))
  if (accountId !== undefined) query = query.where('account_id', '=', accountId)
  if (after !== undefined)
    query = query.where(sql<boolean>`(at_ms, id) < (select at_ms, id from audit_entry where id = ${after})`)
  return (await query.execute()).map(toRecord)
}

function toRecord({ at_ms, account_id, details, ...rest }: AuditEntryTable): AuditRecord {
  return {
    ...rest,
    atMs: at_ms,
    accountId: account_id,
    // Safe: they were written as above.
    details: JSON.parse(details) as AuditRecord['details'],
  }
}
