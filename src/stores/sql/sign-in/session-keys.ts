import type { Kysely } from 'kysely'
import type { SessionKey } from '../../../core/ports/sign-in.ts'
import { appendAudit } from '../accounts/audit.ts'
import type { Command, Moment } from '../engine/command.ts'
import type { Database } from '../schema.ts'
import { later } from './attempts.ts'
import { isInForce } from './sessions-in-force.ts'

/** Time for which the secret before works, so that requests which are on their way are answered. */
const OVERLAP_MS = 5 * 60_000

/** Creates the key of a session; joins the transaction of the session. */
export async function createSessionKey(
  db: Kysely<Database>,
  { accountId, name, key }: { accountId: string; name: string; key: SessionKey },
  now: Moment,
): Promise<void> {
  await db
    .insertInto('api_key')
    .values({
      id: key.id,
      account_id: accountId,
      hash: key.hash,
      prefix: key.prefix,
      name,
      pipeline_config: null,
      limits: null,
      created_at_ms: now,
      last_used_at_ms: null,
      revoked_at_ms: null,
      expires_at_ms: later(now, key.lifetimeMs),
      created_by: `user:${accountId}`,
    })
    .execute()
  const actor = `user:${accountId}`
  await appendAudit(db, { id: key.auditId, accountId, actor, action: 'key.created', subject: key.id }, now)
}

/** Revokes the keys of sessions that have ended; joins the transaction of their end. */
export async function revokeSessionKeys(
  db: Kysely<Database>,
  ended: readonly { readonly keyId: string | null }[],
  now: Moment,
): Promise<void> {
  const ids = ended.flatMap(({ keyId }) => keyId ?? [])
  if (ids.length === 0) return
  await db
    .updateTable('api_key')
    .set({ revoked_at_ms: now })
    .where('id', 'in', ids)
    .where('revoked_at_ms', 'is', null)
    .execute()
}

/** Gives the key of a session a new secret and a new end. Returns false for a session that has ended or has no key. */
export const refreshSessionKey: Command<{ sessionHash: string; key: SessionKey }, boolean> = async (
  db,
  { sessionHash, key },
  now,
) => {
  const session = await db
    .selectFrom('user_session')
    .innerJoin('account', 'account.id', 'user_session.account_id')
    .innerJoin('api_key', 'api_key.id', 'key_id')
    .select(['user_session.id', 'key_id as keyId', 'api_key.hash'])
    .where('user_session.hash', '=', sessionHash)
    .where('account.suspended_at_ms', 'is', null)
    .where(isInForce(now))
    .executeTakeFirst()
  if (session === undefined || session.keyId === null) return false
  const refreshed = await db
    .updateTable('api_key')
    .set({
      previous_hash: session.hash,
      previous_until_ms: later(now, OVERLAP_MS),
      hash: key.hash,
      prefix: key.prefix,
      expires_at_ms: later(now, key.lifetimeMs),
    })
    .where('id', '=', session.keyId)
    .where('hash', '=', session.hash)
    .where('revoked_at_ms', 'is', null)
    .where('suspended_at_ms', 'is', null)
    .returning('id')
    .executeTakeFirst()
  if (refreshed !== undefined)
    await db.updateTable('user_session').set({ last_seen_at_ms: now }).where('id', '=', session.id).execute()
  return refreshed !== undefined
}
