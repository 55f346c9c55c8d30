import type { Kysely } from 'kysely'
import type { AuditNote, AuditRecord } from '../../../core/ports/audit.ts'
import type { Command, Moment } from '../engine/command.ts'
import type { Database } from '../schema.ts'

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
  const rows = await query.execute()
  return rows.map(({ at_ms, account_id, details, ...rest }) => ({
    ...rest,
    atMs: at_ms,
    accountId: account_id,
    // Safe: they were written as above.
    details: JSON.parse(details) as AuditRecord['details'],
  }))
}
