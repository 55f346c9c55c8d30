import { type Kysely, sql } from 'kysely'
import type { AuditNote } from '../../../core/ports/audit.ts'
import type { AccountStanding } from '../../../core/ports/people.ts'
import type { DeviceOutcome, NewDevice, NewSession, PendingDevice, SessionKey } from '../../../core/ports/sign-in.ts'
import { roleOf } from '../../../core/role-of.ts'
import { standingOf } from '../accounts/account.ts'
import { appendAudit } from '../accounts/audit.ts'
import type { Command } from '../engine/command.ts'
import { later } from '../engine/moments.ts'
import type { Database } from '../schema.ts'
import { makeRoom } from './attempts.ts'
import { createSessionKey } from './session-keys.ts'
import { openUserSession } from './sessions.ts'

/** Shortest time between two polls of a command line (RFC 8628, 3.5); a little less than the interval that it is given. */
const SHORTEST_POLL_MS = 4000

/** Stores a request of a command line; false when too many are pending. */
export const beginDevice: Command<NewDevice, boolean> = async (db, device, now) => {
  if (!(await makeRoom(db, 'device_grant', now))) return false
  const { deviceHash, userHash, client, address, ttlMs } = device
  const inserted = await db
    .insertInto('device_grant')
    .values({
      device_hash: deviceHash,
      user_hash: userHash,
      client,
      address,
      state: 'pending',
      account_id: null,
      created_at_ms: now,
      polled_at_ms: 0,
      expires_at_ms: later(now, ttlMs),
    })
    .onConflict((conflict) => conflict.column('user_hash').doNothing())
    .returning('device_hash')
    .executeTakeFirst()
  return inserted !== undefined
}

/** Returns a pending request by its user code. */
export const findDevice: Command<{ userHash: string }, PendingDevice | undefined> = (db, { userHash }, now) =>
  db
    .selectFrom('device_grant')
    .select(['client', 'address', 'created_at_ms as createdAtMs'])
    .where('user_hash', '=', userHash)
    .where('state', '=', 'pending')
    .where('expires_at_ms', '>', now)
    .executeTakeFirst()

/** A user's decision about a request. */
export interface DeviceDecision {
  readonly userHash: string
  readonly accountId: string
  readonly isApproved: boolean
  readonly audit: AuditNote
}

/** Approves or denies a pending request. Returns false when there is none. */
export const decideDevice: Command<DeviceDecision, boolean> = async (
  db,
  { userHash, accountId, isApproved, audit },
  now,
) => {
  const decided = await db
    .updateTable('device_grant')
    .set({ state: isApproved ? 'approved' : 'denied', account_id: accountId })
    .where('user_hash', '=', userHash)
    .where('state', '=', 'pending')
    .where('expires_at_ms', '>', now)
    .returning('device_hash')
    .executeTakeFirst()
  if (decided !== undefined) await appendAudit(db, audit, now)
  return decided !== undefined
}

/** A command line's poll, with the session to open once its request is approved. */
export interface DevicePoll {
  readonly deviceHash: string
  readonly session: NewSession
  /** Key to create with the session; `null` without one. */
  readonly key: SessionKey | null
  readonly auditId: string
}

/** Answers a poll. An approved request opens its session once. */
export const redeemDevice: Command<DevicePoll, DeviceOutcome> = async (
  db,
  { deviceHash, session, key, auditId },
  now,
) => {
  const taken = await db
    .deleteFrom('device_grant')
    .where('device_hash', '=', deviceHash)
    .where('state', '!=', 'pending')
    .where('expires_at_ms', '>', now)
    .returning(['state', 'account_id', 'client'])
    .executeTakeFirst()
  if (taken === undefined) return await pollOf(db, deviceHash, now)
  const { state, account_id: accountId, client } = taken
  if (state === 'denied' || accountId === null) return { kind: 'denied' }
  const standing = await standingOf(db, accountId)
  if (standing?.suspendedAtMs !== null) return { kind: 'suspended' }
  if (key !== null && (await isViewer(db, accountId, standing))) return { kind: 'denied' }
  if (key !== null) await createSessionKey(db, { accountId, name: client, key }, now)
  const keyId = key?.id ?? null
  await openUserSession(db, { ...session, client, accountId, kind: 'command', keyId, auditId }, now)
  const opened = { action: 'session.opened', subject: session.id, details: { kind: 'command' } }
  await appendAudit(db, { id: auditId, accountId, actor: `user:${accountId}`, ...opened }, now)
  return { kind: 'approved', accountId }
}

/** Tests for the role `viewer`, which has sessions but creates no keys. */
async function isViewer(db: Kysely<Database>, accountId: string, standing: AccountStanding): Promise<boolean> {
  const identity = await db
    .selectFrom('sign_in_identity')
    .select('role as groupRole')
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  return roleOf({ ...standing, ...identity }) === 'viewer'
}

const pollOf: (...given: Parameters<Command<string, DeviceOutcome>>) => Promise<DeviceOutcome> = async (
  db,
  deviceHash,
  now,
) => {
  const row = await db
    .selectFrom('device_grant')
    .select(sql<number>`${now} - polled_at_ms`.as('sinceMs'))
    .where('device_hash', '=', deviceHash)
    .where('expires_at_ms', '>', now)
    .executeTakeFirst()
  if (row === undefined) return { kind: 'unknown' }
  await db.updateTable('device_grant').set({ polled_at_ms: now }).where('device_hash', '=', deviceHash).execute()
  return { kind: Number(row.sinceMs) < SHORTEST_POLL_MS ? 'slow' : 'pending' }
}
