import { sql } from 'kysely'
import { GatewayError } from '../../../core/errors.ts'
import type { KeyChange, KeyInUse, KeyUses, NewKey, OwnedKey, StoredKey } from '../../../core/ports/keys.ts'
import type { KeysInReach } from '../../../core/ports/people.ts'
import type { Command } from '../engine/command.ts'
import { type Places, statement } from '../engine/statement.ts'
import { ensureAccount } from './account.ts'
import { appendAudit } from './audit.ts'
import { SELECT_KEY_IN_USE } from './key-row.ts'
import type { ApiKeyTable } from './schema.ts'

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
    })
    .returning(STORED)
    .executeTakeFirstOrThrow()
  await appendAudit(db, key.audit, now)
  return toStored(row)
}

const STORED = [
  'id',
  'prefix',
  'name',
  'pipeline_config',
  'limits',
  'created_at_ms',
  'last_used_at_ms',
  'revoked_at_ms',
] as const satisfies (keyof ApiKeyTable)[]

function toStored(row: Pick<ApiKeyTable, (typeof STORED)[number]>): StoredKey {
  const { id, prefix, name, pipeline_config, limits, created_at_ms, last_used_at_ms, revoked_at_ms } = row
  return {
    id,
    prefix,
    name,
    pipelineConfig: pipeline_config,
    limits,
    createdAtMs: created_at_ms,
    lastUsedAtMs: last_used_at_ms,
    revokedAtMs: revoked_at_ms,
  }
}

/** Lists an account's keys, revoked ones included, newest first, at most 10,000. */
export const listKeys: Command<{ accountId: string }, StoredKey[]> = async (db, { accountId }) => {
  const rows = await db
    .selectFrom('api_key')
    .select(STORED)
    .where('account_id', '=', accountId)
    .orderBy('created_at_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(LONGEST_LIST)
    .execute()
  return rows.map(toStored)
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
  const { id, accountId, audit, name, pipelineConfig, limits } = change
  const row = await db
    .updateTable('api_key')
    .set({
      ...(name !== undefined && { name }),
      ...(pipelineConfig !== undefined && { pipeline_config: pipelineConfig }),
      ...(limits !== undefined && { limits }),
    })
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .where('revoked_at_ms', 'is', null)
    .returning(STORED)
    .executeTakeFirst()
  if (row === undefined) return undefined
  await appendAudit(db, audit, now)
  return toStored(row)
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
