import { type Kysely, sql } from 'kysely'
import { sqlStateOf, unavailable } from '../engine/faults.ts'
import { type Places, statement } from '../engine/statement.ts'
import { planBatch, type ReceiptBatch, withoutStored } from '../receipts/batch.ts'
import type { Database } from '../schema.ts'
import type { ShortCut } from './short-cuts.ts'

/*
 * DESIGN. All instances append to one ledger. A batch is planned after the latest head and inserted by one statement, which
 * the primary key of heads refuses when another instance was faster: then it is planned again. So no lock is held between
 * two round trips, and an instance that hangs delays no other.
 */

const UNIQUE_VIOLATION = '23505'
const TRIES = 10

/** Does the same as `putReceipts`. */
export const appendReceipts: ShortCut<ReceiptBatch, void> = async (db, { receipts, key }) => {
  let added = receipts
  for (let tried = 1; tried <= TRIES && added.length > 0; tried++) {
    const rows = await planBatch(db, { receipts: added, key })
    const given = {
      receipts: JSON.stringify(rows.receipts),
      nodes: JSON.stringify(rows.nodes),
      firstLeaf: rows.head.first_leaf,
      checkpoint: rows.head.checkpoint,
      leaves: rows.head.leaves,
    }
    try {
      await insertBatch(db, given)
      rows.remember()
      return
    } catch (error) {
      if (sqlStateOf(error) !== UNIQUE_VIOLATION) throw error
      // Also after a lost reply: then these receipts are stored.
      added = await withoutStored(added, (ids) => selectStored(db, ids))
    }
  }
  if (added.length > 0) throw unavailable('Other instances append to the ledger of receipts all the time.')
}

function selectStored(db: Kysely<Database>, ids: readonly string[]): Promise<{ id: string }[]> {
  return db.selectFrom('receipt').select('id').where('id', 'in', ids).execute()
}

type InsertedBatch = {
  readonly receipts: string
  readonly nodes: string
  readonly firstLeaf: number
  readonly checkpoint: string
  readonly leaves: string
}

const insertBatch = statement(
  ['receipts', 'nodes', 'firstLeaf', 'checkpoint', 'leaves'],
  (db, given: Places<InsertedBatch>) => ({
    compile: () =>
      sql`with stored as (
        insert into receipt (id, scope, created_at_ms, json, leaf_index)
        select id, scope, created_at_ms, json, leaf_index from json_to_recordset(${given.receipts}::json)
          as r(id text, scope text, created_at_ms bigint, json text, leaf_index bigint)
      ), tree as (
        insert into receipt_node (level, node_index, hash)
        select level, node_index, hash from json_to_recordset(${given.nodes}::json)
          as n(level bigint, node_index bigint, hash text)
        on conflict (level, node_index) do update set hash = excluded.hash
      )
      insert into receipt_head (first_leaf, checkpoint, leaves)
      values (${given.firstLeaf}::bigint, ${given.checkpoint}, ${given.leaves})`.compile(db),
  }),
)
