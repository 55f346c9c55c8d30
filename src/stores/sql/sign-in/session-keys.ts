import { type Kysely, sql } from 'kysely'
import type { AuditNote } from '../../../core/ports/audit.ts'
import type { SessionKey } from '../../../core/ports/sign-in.ts'
import { appendAudit } from '../accounts/audit.ts'
import type { Command, Moment } from '../engine/command.ts'
import { bigint, earliest, later } from '../engine/moments.ts'
import type { Database } from '../schema.ts'
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

/** A session that has ended. */
export interface EndedSession {
  readonly id: string
  readonly accountId: string
  readonly keyId: string | null
}

/** Audit entry of the end of sessions, as far as those of their keys need it. */
export type SessionEnd = Pick<AuditNote, 'id' | 'actor' | 'action'>

/** Revokes the keys of sessions that have ended, each with an audit entry; joins the transaction of their end. */
export async function revokeSessionKeys(
  db: Kysely<Database>,
  ended: readonly EndedSession[],
  { id, actor, action: reason }: SessionEnd,
  now: Moment,
): Promise<void> {
  for (const { id: session, keyId } of ended) {
    if (keyId === null) continue
    const key = await db
      .updateTable('api_key')
      .set({ revoked_at_ms: now })
      .where('id', '=', keyId)
      .where('revoked_at_ms', 'is', null)
      .returning(['account_id as accountId', 'name'])
      .executeTakeFirst()
    if (key === undefined) continue
    const details = { name: key.name, session, reason }
    // Not `key.revoked`, which is alerted on: users sign out every day.
    const note = { id: `${id}_${keyId}`, accountId: key.accountId, actor, action: 'key.ended', subject: keyId, details }
    await appendAudit(db, note, now)
  }
}

/**
 * Gives the key of a session a new secret and a new end, which is neither later than the session's nor than the expiry that a
 * manager has set. Returns the time until then in milliseconds; `undefined` for a session that has ended or has no key in
 * force.
 */
export const refreshSessionKey: Command<{ sessionHash: string; key: SessionKey }, number | undefined> = async (
  db,
  { sessionHash, key },
  now,
) => {
  const session = await db
    .selectFrom('user_session')
    .innerJoin('account', 'account.id', 'user_session.account_id')
    .innerJoin('api_key', 'api_key.id', 'key_id')
    .select(['user_session.id', 'key_id as keyId', 'api_key.hash'])
    .select(['user_session.expires_at_ms as endMs', 'idle_ms as idleMs'])
    .where('user_session.hash', '=', sessionHash)
    .where('account.suspended_at_ms', 'is', null)
    .where(isInForce(now))
    .executeTakeFirst()
  if (session === undefined || session.keyId === null) return undefined
  const { endMs, idleMs } = session
  const refreshed = await db
    .updateTable('api_key')
    .set({
      previous_hash: session.hash,
      previous_until_ms: later(now, OVERLAP_MS),
      hash: key.hash,
      prefix: key.prefix,
      expires_at_ms: earliest(
        later(now, Math.min(key.lifetimeMs, Number(idleMs))),
        bigint(Number(endMs)),
        sql.ref('managed_until_ms'),
      ),
    })
    .where('id', '=', session.keyId)
    .where('hash', '=', session.hash)
    .where('revoked_at_ms', 'is', null)
    .where('suspended_at_ms', 'is', null)
    .where((is) => is.or([is('managed_until_ms', 'is', null), is('managed_until_ms', '>', now)]))
    .returning(sql<number>`expires_at_ms - ${now}`.as('lifetimeMs'))
    .executeTakeFirst()
  if (refreshed === undefined) return undefined
  await db.updateTable('user_session').set({ last_seen_at_ms: now }).where('id', '=', session.id).execute()
  return Number(refreshed.lifetimeMs)
}
