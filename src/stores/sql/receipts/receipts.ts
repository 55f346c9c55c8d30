import type { StoredReceipt } from '../../../core/telemetry/receipt.ts'
import type { Command } from '../engine/command.ts'

/** Cursor of a list: the last receipt seen. */
export interface ReceiptCursor {
  readonly createdAtMs: number
  readonly id: string
}

const LONGEST_LIST = 100

/** Stores at least one receipt; receipts with an existing id are ignored. */
export const putReceipts: Command<readonly StoredReceipt[], void> = async (db, receipts) => {
  await db
    .insertInto('receipt')
    .values(receipts.map(({ id, scope, createdAtMs, json }) => ({ id, scope, created_at_ms: createdAtMs, json })))
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
}

/** Returns the JSON of a scope's receipt. */
export const getReceipt: Command<{ id: string; scope: string }, string | undefined> = async (db, { id, scope }) => {
  const row = await db
    .selectFrom('receipt')
    .select('json')
    .where('id', '=', id)
    .where('scope', '=', scope)
    .executeTakeFirst()
  return row?.json
}

/** Filter of a list, at most 100 at a time. */
export interface ReceiptQuery {
  readonly scope: string
  readonly after?: ReceiptCursor | undefined
  readonly limit: number
}

/** Lists a scope's receipts, newest first. */
export const listReceipts: Command<ReceiptQuery, StoredReceipt[]> = async (db, { scope, after, limit }) => {
  let query = db
    .selectFrom('receipt')
    .select(['id', 'scope', 'created_at_ms', 'json'])
    .where('scope', '=', scope)
    .orderBy('created_at_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(Math.min(limit, LONGEST_LIST))
  if (after !== undefined)
    query = query.where((is) =>
      is.or([
        is('created_at_ms', '<', after.createdAtMs),
        is.and([is('created_at_ms', '=', after.createdAtMs), is('id', '<', after.id)]),
      ]),
    )
  const rows = await query.execute()
  return rows.map(({ created_at_ms, ...rest }) => ({ ...rest, createdAtMs: created_at_ms }))
}

/** One more than a page, to know whether there is another. */
const LONGEST_OLDEST_LIST = LONGEST_LIST + 1

/** Lists the JSON of a scope's receipts, oldest first, at most 101: for clients that follow them from a receipt on. */
export const listOldestReceipts: Command<ReceiptQuery, string[]> = async (db, { scope, after, limit }) => {
  let query = db
    .selectFrom('receipt')
    .select('json')
    .where('scope', '=', scope)
    .orderBy('created_at_ms')
    .orderBy('id')
    .limit(Math.min(limit, LONGEST_OLDEST_LIST))
  if (after !== undefined)
    query = query.where((is) =>
      is.or([
        is('created_at_ms', '>', after.createdAtMs),
        is.and([is('created_at_ms', '=', after.createdAtMs), is('id', '>', after.id)]),
      ]),
    )
  return (await query.execute()).map(({ json }) => json)
}
