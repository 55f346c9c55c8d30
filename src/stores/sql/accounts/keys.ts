import { type Kysely, sql } from 'kysely'
import { GatewayError } from '../../../core/errors.ts'
import type {
  KeyChange,
  KeyInUse,
  KeyRotation,
  KeyUses,
  NewKey,
  OwnedKey,
  StoredKey,
} from '../../../core/ports/keys.ts'
import type { KeysInReach } from '../../../core/ports/people.ts'
import type { Command } from '../engine/command.ts'
import { bigint, earliest } from '../engine/moments.ts'
import { type Places, statement } from '../engine/statement.ts'
import type { Database } from '../schema.ts'
import { ensureAccount } from './account.ts'
import { appendAudit } from './audit.ts'
import { SELECT_KEY_IN_USE } from './key-row.ts'

const LONGEST_LIST = 10_000

/** Creates a key, and its account if needed. Throws `permission_error` at the account's maximum. */
export const createKey: Command<NewKey, StoredKey> = async (db, key, now) => {
  await ensureAccount(db, key.accountId, now)
  const { count } = await db
    .selectFrom('api_key')
    .select((of) => of.fn.countAll<number>().as('count'))
    .where('account_id', '=', key.accountId)
    .where('revoked_at_ms', 'is', null)
    .executeTakeFirstOrThrow()
  if (count >= key.most)
    throw new GatewayError('permission_error', `This account has ${count} keys, which is the most. Revoke one first.`)
  await assertTeam(db, key.teamId, key.accountId)
  const row = await db
    .insertInto('api_key')
    .values({
      id: key.id,
      account_id: key.accountId,
      hash: key.hash,
      prefix: key.prefix,
      name: key.name,
      pipeline_config: key.pipelineConfig,
      limits: key.limits,
      created_at_ms: now,
      last_used_at_ms: null,
      revoked_at_ms: null,
      team_id: key.teamId ?? null,
      tags: key.tags ?? null,
      expires_at_ms: key.expiresAtMs ?? null,
      created_by: key.createdBy,
      limits_by: key.limits === null ? null : (key.manager ?? null),
    })
    .returning(STORED_KEY)
    .executeTakeFirstOrThrow()
  await appendAudit(db, key.audit, now)
  return row
}

/** Throws `invalid_request` unless the team takes keys of this account: its members', while it is not archived. */
async function assertTeam(db: Kysely<Database>, teamId: string | null | undefined, accountId: string): Promise<void> {
  if (teamId === null || teamId === undefined) return
  const member = await db
    .selectFrom('team_member')
    .innerJoin('team', 'team.id', 'team_id')
    .select('account_id')
    .where('team_id', '=', teamId)
    .where('account_id', '=', accountId)
    .where('archived_at_ms', 'is', null)
    .executeTakeFirst()
  if (member === undefined)
    throw new GatewayError('invalid_request', 'teamId: expected a team, not archived, of which the owner is a member.')
}

/** Columns of a stored key. */
export const STORED_KEY = [
  'api_key.id as id',
  'prefix',
  'api_key.name as name',
  'pipeline_config as pipelineConfig',
  'api_key.limits as limits',
  'api_key.created_at_ms as createdAtMs',
  'last_used_at_ms as lastUsedAtMs',
  'revoked_at_ms as revokedAtMs',
  'account_id as accountId',
  'team_id as teamId',
  'tags',
  'api_key.suspended_at_ms as suspendedAtMs',
  'expires_at_ms as expiresAtMs',
  'previous_until_ms as previousUntilMs',
  'created_by as createdBy',
  'limits_by as limitsBy',
] as const

/** Lists an account's keys, revoked ones included, newest first, at most 10,000. */
export const listKeys: Command<{ accountId: string }, StoredKey[]> = async (db, { accountId }) => {
  return db
    .selectFrom('api_key')
    .select(STORED_KEY)
    .where('account_id', '=', accountId)
    .orderBy('created_at_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(LONGEST_LIST)
    .execute()
}

/** Lists the ids of an account's keys and of those of the teams that it leads, at most 10,000 of each. */
export const keysInReach: Command<{ accountId: string; leads: readonly string[] }, KeysInReach> = async (
  db,
  { accountId, leads },
) => {
  const ids = db.selectFrom('api_key').select('id').orderBy('created_at_ms', 'desc').limit(LONGEST_LIST)
  const own = await ids.where('account_id', '=', accountId).execute()
  const led = leads.length === 0 ? [] : await ids.where('team_id', 'in', leads).execute()
  return { own: own.map(({ id }) => id), led: led.map(({ id }) => id) }
}

/** Changes a key that is not revoked; `undefined` when the account has no such key. */
export const changeKey: Command<KeyChange, StoredKey | undefined> = async (db, change, now) => {
  const { id, accountId, audit, name, pipelineConfig, limits, manager, teamId, tags, expiresAtMs, isSuspended } = change
  await assertTeam(db, teamId, accountId)
  const isOfSession = expiresAtMs !== undefined && (await hasSession(db, change))
  if (limits !== undefined && manager === null) await assertOwnLimits(db, change)
  const row = await db
    .updateTable('api_key')
    .set({
      id,
      ...(name !== undefined && { name }),
      ...(pipelineConfig !== undefined && { pipeline_config: pipelineConfig }),
      ...(limits !== undefined && { limits, limits_by: limits === null ? null : manager }),
      ...(teamId !== undefined && { team_id: teamId }),
      ...(tags !== undefined && { tags }),
      ...(expiresAtMs !== undefined && {
        managed_until_ms: expiresAtMs,
        expires_at_ms: isOfSession ? earliest(sql.ref('expires_at_ms'), bigint(expiresAtMs)) : expiresAtMs,
      }),
      ...(isSuspended !== undefined && { suspended_at_ms: isSuspended ? now : null }),
    })
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .where('revoked_at_ms', 'is', null)
    .returning(STORED_KEY)
    .executeTakeFirst()
  if (row !== undefined) await appendAudit(db, audit, now)
  return row
}

/** Tests for the key of a session, whose expiry is set by each refresh: a manager's bounds it. */
async function hasSession(db: Kysely<Database>, { id, accountId }: OwnedKey): Promise<boolean> {
  const session = await db
    .selectFrom('user_session')
    .select('id')
    .where('account_id', '=', accountId)
    .where('key_id', '=', id)
    .executeTakeFirst()
  return session !== undefined
}

/** Throws `permission_error` for limits that an operator or a lead has set. */
async function assertOwnLimits(db: Kysely<Database>, { id, accountId }: KeyChange): Promise<void> {
  const managed = await db
    .selectFrom('api_key')
    .select('limits_by')
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .where('limits_by', 'is not', null)
    .executeTakeFirst()
  if (managed === undefined) return
  const words = 'limits: these were set by an operator or the lead of your team, who alone can change them.'
  throw new GatewayError('permission_error', words)
}

/** Replaces the secret of a key that is not revoked; the hash before works until the overlap has passed. */
export const rotateKey: Command<KeyRotation, StoredKey | undefined> = async (db, rotation, now) => {
  const { id, accountId, hash, prefix, overlapMs, audit } = rotation
  const row = await db
    .updateTable('api_key')
    .set((of) => ({
      previous_hash: of.ref('hash'),
      previous_until_ms: sql<number>`${now} + ${overlapMs}`,
      hash,
      prefix,
    }))
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .where('revoked_at_ms', 'is', null)
    .returning(STORED_KEY)
    .executeTakeFirst()
  if (row !== undefined) await appendAudit(db, audit, now)
  return row
}

/** Revokes a key; idempotent. Returns false when the account has no such key. */
export const revokeKey: Command<OwnedKey, boolean> = async (db, { id, accountId, audit }, now) => {
  const revoked = await db
    .updateTable('api_key')
    .set({ revoked_at_ms: now })
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .where('revoked_at_ms', 'is', null)
    .returning('id')
    .executeTakeFirst()
  if (revoked !== undefined) {
    await appendAudit(db, audit, now)
    return true
  }
  const known = await db
    .selectFrom('api_key')
    .select('id')
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  return known !== undefined
}

const setLastUsed = statement(['id', 'atMs'], (db, given: Places<{ id: string; atMs: number }>) =>
  db
    .updateTable('api_key')
    .set({ last_used_at_ms: given.atMs })
    .where('id', '=', given.id)
    .where((is) => is.or([is('last_used_at_ms', 'is', null), is('last_used_at_ms', '<', given.atMs)])),
)

/** Records when keys were used; an earlier time than the stored one is ignored. */
export const touchKeys: Command<KeyUses, void> = async (db, uses) => {
  for (const [id, atMs] of uses) await setLastUsed(db, { id, atMs })
}

const findByHash = statement(['hash'], (db, { hash }: Places<{ hash: string }>) => {
  const text = sql<KeyInUse>`${sql.raw(SELECT_KEY_IN_USE)} where k.hash = ${hash} or k.previous_hash = ${hash}`
  return { compile: () => text.compile(db) }
})

/** Returns the key with this hash, with its account's and team's properties that a request needs. */
export const findKey: Command<{ hash: string }, KeyInUse | undefined> = async (db, { hash }) => {
  const [row] = await findByHash(db, { hash })
  return row
}
