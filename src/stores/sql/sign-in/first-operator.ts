import type { Kysely } from 'kysely'
import type { SignedIn } from '../../../core/ports/sign-in.ts'
import { appendAudit } from '../accounts/audit.ts'
import type { Command, Moment } from '../engine/command.ts'
import { later } from '../engine/moments.ts'
import type { Database } from '../schema.ts'

async function hasOperator(db: Kysely<Database>): Promise<boolean> {
  const known = await db
    .selectFrom('account')
    .select('id')
    .where('role', '=', 'operator')
    .where('suspended_at_ms', 'is', null)
    .executeTakeFirst()
  return known !== undefined
}

/** Links that are valid at once: each process prints one at its start. */
const MOST_LINKS = 32

/** Stores a link beside the newest others. Returns false when the gateway has an operator. */
export const offerFirstOperator: Command<{ hash: string; ttlMs: number }, boolean> = async (
  db,
  { hash, ttlMs },
  now,
) => {
  const isOperated = await hasOperator(db)
  const kept = db
    .selectFrom('operator_link')
    .select('hash')
    .where('expires_at_ms', '>', now)
    .orderBy('expires_at_ms', 'desc')
    .limit(isOperated ? 0 : MOST_LINKS - 1)
  await db.deleteFrom('operator_link').where('hash', 'not in', kept).execute()
  if (isOperated) return false
  await db
    .insertInto('operator_link')
    .values({ hash, browser_hash: null, expires_at_ms: later(now, ttlMs) })
    .execute()
  return true
}

/** Binds a link to the first browser that opens it. */
export const bindFirstOperator: Command<{ hash: string; browserHash: string }, boolean> = async (
  db,
  { hash, browserHash },
  now,
) => {
  const bound = await db
    .updateTable('operator_link')
    .set({ browser_hash: browserHash })
    .where('hash', '=', hash)
    .where('expires_at_ms', '>', now)
    .where((is) => is.or([is('browser_hash', 'is', null), is('browser_hash', '=', browserHash)]))
    .returning('hash')
    .executeTakeFirst()
  return bound !== undefined
}

/** Makes a person who signs in through a link the operator; the link is used up. Joins the sign-in's transaction. */
export async function claimFirstOperator(
  db: Kysely<Database>,
  { accountId, linkHash, audit }: SignedIn,
  now: Moment,
): Promise<boolean> {
  if (linkHash === null) return false
  const open = await db
    .selectFrom('operator_link')
    .select('hash')
    .where('browser_hash', '=', linkHash)
    .where('expires_at_ms', '>', now)
    .executeTakeFirst()
  if (open === undefined || (await hasOperator(db))) return false
  // All links at once: of two claims at the same time, one deletes them and the other finds none.
  const deleted = await db.deleteFrom('operator_link').returning('browser_hash').execute()
  if (!deleted.some(({ browser_hash: browser }) => browser === linkHash)) return false
  await db.updateTable('account').set({ role: 'operator' }).where('id', '=', accountId).execute()
  const id = `${audit.id}_operator`
  await appendAudit(
    db,
    { id, accountId, actor: `user:${accountId}`, action: 'operator.first-link-used', subject: accountId },
    now,
  )
  return true
}
