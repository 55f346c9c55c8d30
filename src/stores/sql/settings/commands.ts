import { type Kysely, type Selectable, sql } from 'kysely'
import type { NewSettingChange, SettingChange, StoredSettings } from '../../../core/ports/settings.ts'
import { appendAudit } from '../accounts/audit.ts'
import type { Command, Moment } from '../engine/command.ts'
import type { Database } from '../schema.ts'
import type { SettingChangeTable } from './schema.ts'

const MOST_LISTED = 200
/** Older changes are deleted unless they are in force; the audit log keeps all. */
const MOST_KEPT = 1000

/** A change, and the id of its audit entry. */
export type SettingOrder = NewSettingChange & { readonly auditId: string }
/** A change of a provider's key; `sealed` is `null` to delete it. */
export type KeyOrder = SettingOrder & { readonly provider: string; readonly sealed: string | null }

/** Returns the number of the last change. */
export const readSettingVersion: Command<undefined, number> = async (db) => {
  const row = await db.selectFrom('setting_version').select('seq').executeTakeFirst()
  return row?.seq ?? 0
}

/** Reads the settings in force, with their version. */
export const readSettings: Command<undefined, StoredSettings> = async (db) => {
  // The version first: changes that arrive between the statements are read again.
  const version = await readSettingVersion(db, undefined, sql`null`)
  const values = await latest(db).select(['name', 'value']).where('value', 'is not', null).execute()
  const keys = await db.selectFrom('provider_key').selectAll().orderBy('provider').execute()
  return { version, values, keys }
}

/** Lists the last changes, newest first. */
export const listSettingChanges: Command<undefined, SettingChange[]> = async (db) => {
  const rows = await db.selectFrom('setting_change').selectAll().orderBy('seq', 'desc').limit(MOST_LISTED).execute()
  return rows.map(toChange)
}

/** Stores a change with its audit entry; `undefined` when the name has been changed after `onlyAfter`. */
export const changeSetting: Command<SettingOrder, SettingChange | undefined> = async (db, order, now) => {
  // Locks the row: of two changes at once, one follows the other.
  const seq = await nextVersion(db)
  const { name, value, onlyAfter } = order
  const last = await latest(db).select(['seq', 'value']).where('name', '=', name).executeTakeFirst()
  if (onlyAfter !== undefined && last?.seq !== onlyAfter) return undefined
  return append(db, { ...order, seq, value, previous: last?.value ?? null }, now)
}

/** Stores or deletes a provider's encrypted key, with the change that records it. */
export const changeProviderKey: Command<KeyOrder, SettingChange> = async (db, order, now) => {
  const seq = await nextVersion(db)
  const { provider, sealed, name, value } = order
  await db.deleteFrom('provider_key').where('provider', '=', provider).execute()
  if (sealed !== null) await db.insertInto('provider_key').values({ provider, sealed }).execute()
  const last = await latest(db).select('value').where('name', '=', name).executeTakeFirst()
  return append(db, { ...order, seq, value, previous: last?.value ?? null }, now)
}

async function nextVersion(db: Kysely<Database>): Promise<number> {
  const row = await db
    .updateTable('setting_version')
    .set({ seq: sql`seq + 1` })
    .returning('seq')
    .executeTakeFirstOrThrow()
  return row.seq
}

/** The last change of each name. */
function latest(db: Kysely<Database>) {
  const lastOfEach = db.selectFrom('setting_change').select(sql<number>`max(seq)`.as('seq')).groupBy('name')
  return db.selectFrom('setting_change').where('seq', 'in', lastOfEach)
}

type NewRow = SettingOrder & { readonly seq: number; readonly previous: string | null }

async function append(db: Kysely<Database>, order: NewRow, now: Moment): Promise<SettingChange> {
  const { seq, actor, name, value, previous, accountId, auditId: id } = order
  const row = await db
    .insertInto('setting_change')
    .values({ seq, at_ms: now, actor, name, value, previous })
    .returningAll()
    .executeTakeFirstOrThrow()
  const lastOfEach = db.selectFrom('setting_change').select(sql<number>`max(seq)`.as('seq')).groupBy('name')
  await db
    .deleteFrom('setting_change')
    .where('seq', '<=', seq - MOST_KEPT)
    .where('seq', 'not in', lastOfEach)
    .execute()
  const details = { from: parsed(previous), to: parsed(value) }
  await appendAudit(db, { id, accountId, actor, action: 'setting.changed', subject: name, details }, now)
  return toChange(row)
}

function parsed(json: string | null): unknown {
  return json === null ? null : JSON.parse(json)
}

function toChange({ at_ms: atMs, ...row }: Selectable<SettingChangeTable>): SettingChange {
  return { ...row, atMs }
}
