import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { AuditNote } from '../../../core/ports/audit.ts'
import type { ListedSession, NewSession, SessionInForce, SessionKind } from '../../../core/ports/sign-in.ts'
import { appendAudit } from '../accounts/audit.ts'
import type { Command, Moment } from '../engine/command.ts'
import { later } from '../engine/moments.ts'
import type { Database } from '../schema.ts'
import { type EndedSession, revokeSessionKeys, type SessionEnd } from './session-keys.ts'
import { isInForce } from './sessions-in-force.ts'

/** Most sessions of an account that are in force; beyond it the oldest end. */
const MOST_SESSIONS = 100
/** Time between two records of a session's use. */
const SEEN_EVERY_MS = 60_000
/** Time for which an ended session is kept. */
const KEPT_MS = 30 * 24 * 60 * 60_000

/** Opens a session; for commands, whose transaction it joins. */
export async function openUserSession(
  db: Kysely<Database>,
  {
    accountId,
    kind,
    keyId = null,
    auditId,
    ...session
  }: NewSession & { accountId: string; kind: SessionKind; keyId?: string | null; auditId: string },
  now: Moment,
): Promise<void> {
  const { id, hash, client, idToken, lifetimeMs, idleMs } = session
  await db
    .deleteFrom('user_session')
    .where('account_id', '=', accountId)
    .where('expires_at_ms', '<', later(now, -KEPT_MS))
    .execute()
  await db
    .insertInto('user_session')
    .values({
      id,
      hash,
      account_id: accountId,
      kind,
      client,
      id_token: idToken,
      key_id: keyId,
      created_at_ms: now,
      last_seen_at_ms: now,
      idle_ms: idleMs,
      expires_at_ms: later(now, lifetimeMs),
      revoked_at_ms: null,
    })
    .execute()
  const isOlder = sql<boolean>`account_id = ${accountId} and id not in (
    select id from user_session where account_id = ${accountId} and revoked_at_ms is null
    order by created_at_ms desc, id desc limit ${MOST_SESSIONS})`
  await replaceSessions(db, isOlder, { auditId, actor: `user:${accountId}` }, now)
}

/** Ends sessions that a new one takes the place of, each with its audit entry. */
export async function replaceSessions(
  db: Kysely<Database>,
  which: RawBuilder<SqlBool>,
  { auditId, actor }: { auditId: string; actor: string },
  now: Moment,
): Promise<void> {
  const end = { id: auditId, actor, action: 'session.replaced' }
  for (const { id, accountId } of await endSessions(db, which, end, now))
    await appendAudit(db, { ...end, id: `${auditId}_${id}`, accountId, subject: id }, now)
}

/** Ends sessions together with their keys; returns them. Every end of a session before its time is made here. */
async function endSessions(
  db: Kysely<Database>,
  which: RawBuilder<SqlBool>,
  end: SessionEnd,
  now: Moment,
): Promise<EndedSession[]> {
  const ended = await db
    .updateTable('user_session')
    .set({ revoked_at_ms: now, id_token: null })
    .where('revoked_at_ms', 'is', null)
    .where(which)
    .returning(['id', 'account_id as accountId', 'key_id as keyId'])
    .execute()
  await revokeSessionKeys(db, ended, end, now)
  return ended
}

/** Returns a session in force, and records its use once a minute. */
export const useSession: Command<{ hash: string }, SessionInForce | undefined> = async (db, { hash }, now) => {
  const row = await db
    .selectFrom('user_session')
    .leftJoin('sign_in_identity', 'sign_in_identity.account_id', 'user_session.account_id')
    .select([
      'user_session.id',
      'user_session.account_id as accountId',
      'kind',
      'sign_in_identity.role',
      'expires_at_ms as expiresAtMs',
    ])
    .select(sql<number>`${now} - last_seen_at_ms`.as('unseenMs'))
    .where('hash', '=', hash)
    .where(isInForce(now))
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { unseenMs, ...session } = row
  if (Number(unseenMs) >= SEEN_EVERY_MS)
    await db.updateTable('user_session').set({ last_seen_at_ms: now }).where('id', '=', session.id).execute()
  return session
}

/** Lists the sessions of an account that are in force, latest use first. */
export const listSessions: Command<{ accountId: string }, ListedSession[]> = (db, { accountId }, now) =>
  db
    .selectFrom('user_session')
    .select([
      'id',
      'kind',
      'client',
      'created_at_ms as createdAtMs',
      'last_seen_at_ms as lastSeenAtMs',
      'expires_at_ms as expiresAtMs',
    ])
    .where('account_id', '=', accountId)
    .where(isInForce(now))
    .orderBy('last_seen_at_ms', 'desc')
    .orderBy('id')
    .limit(MOST_SESSIONS)
    .execute()

/** A session of an account, by its id. */
export interface OwnedSession {
  readonly id: string
  readonly accountId: string
  readonly audit: AuditNote
}

/** Ends a session. Returns false when the account has no such session in force. */
export const revokeSession: Command<OwnedSession, boolean> = async (db, { id, accountId, audit }, now) => {
  const which = sql<boolean>`id = ${id} and account_id = ${accountId} and ${isInForce(now)}`
  if ((await endSessions(db, which, audit, now)).length === 0) return false
  await appendAudit(db, audit, now)
  return true
}

/** Ends all sessions of an account; returns their number. */
export const revokeSessions: Command<{ accountId: string; audit: AuditNote }, number> = async (
  db,
  { accountId, audit },
  now,
) => {
  const { length: sessions } = await endSessions(
    db,
    sql<boolean>`account_id = ${accountId} and ${isInForce(now)}`,
    audit,
    now,
  )
  if (sessions > 0) await appendAudit(db, { ...audit, details: { ...audit.details, sessions } }, now)
  return sessions
}

/** Ends the session with this hash, at its own wish; returns its ID token. */
export const endSession: Command<{ hash: string; auditId: string }, string | null> = async (
  db,
  { hash, auditId },
  now,
) => {
  const row = await db
    .selectFrom('user_session')
    .select(['id', 'account_id as accountId', 'id_token as idToken'])
    .where('hash', '=', hash)
    .where(isInForce(now))
    .executeTakeFirst()
  if (row === undefined) return null
  const { id, accountId, idToken } = row
  const note = { id: auditId, actor: `user:${accountId}`, action: 'session.ended', subject: id }
  await revokeSession(db, { id, accountId, audit: { ...note, accountId } }, now)
  return idToken
}
