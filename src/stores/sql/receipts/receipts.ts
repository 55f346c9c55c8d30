import { type Kysely, sql } from 'kysely'
import { inclusionRanges, subtreesOf } from '../../../core/ledger/proofs.ts'
import type { ReceiptProof } from '../../../core/telemetry/receipt.ts'
import type { Command } from '../engine/command.ts'
import { type Places, statement } from '../engine/statement.ts'
import type { Database } from '../schema.ts'
import { type BatchRows, planBatch, type ReceiptBatch, withoutStored } from './batch.ts'
import { damaged, StoredTree } from './stored-tree.ts'

/** Cursor of a list: the last receipt seen. */
export interface ReceiptCursor {
  readonly createdAtMs: number
  readonly id: string
}

/** A stored receipt with its proof; version 1 has none. */
export interface FoundReceipt {
  readonly json: string
  readonly proof: ReceiptProof | undefined
}

/**
 * Appends at least one receipt to the ledger, with one signed head for all; receipts with an existing id are ignored. Needs
 * a transaction in which no other process appends, as SQLite's are.
 */
export const putReceipts: Command<ReceiptBatch, void> = async (db, { receipts, key }) => {
  const added = await withoutStored(receipts, (ids) => selectStored(db, { ids: JSON.stringify(ids) }))
  if (added.length === 0) return
  const rows = await planBatch(db, { receipts: added, key })
  for (const receipt of rows.receipts) await insertReceipt(db, receipt)
  await insertHead(db, rows.head)
  if (rows.nodes.length > 0)
    await db
      .insertInto('receipt_node')
      .values(rows.nodes)
      .onConflict((conflict) => conflict.columns(['level', 'node_index']).doUpdateSet({ hash: sql`excluded.hash` }))
      .execute()
  rows.remember()
}

const selectStored = statement(['ids'], (db, { ids }: Places<{ ids: string }>) =>
  db.selectFrom('receipt').select('id').where('id', 'in', sql<string>`(select value from json_each(${ids}))`),
)

/** A statement for each receipt: Kysely takes several times as long to print one for all as SQLite to run these. */
const insertReceipt = statement(
  ['id', 'scope', 'created_at_ms', 'json', 'leaf_index'],
  (db, receipt: Places<BatchRows['receipts'][number]>) => db.insertInto('receipt').values(receipt),
)

const insertHead = statement(['first_leaf', 'checkpoint', 'leaves'], (db, head: Places<BatchRows['head']>) =>
  db.insertInto('receipt_head').values(head),
)

/** Returns a scope's receipt. */
export const getReceipt: Command<{ id: string; scope: string }, FoundReceipt | undefined> = async (
  db,
  { id, scope },
) => {
  const row = await selectReceipts(db).where('id', '=', id).where('scope', '=', scope).executeTakeFirst()
  return row && proved(db, row)
}

/** Returns a receipt of any scope, for the operator. */
export const findReceipt: Command<{ id: string }, FoundReceipt | undefined> = async (db, { id }) => {
  const row = await selectReceipts(db).where('id', '=', id).executeTakeFirst()
  return row && proved(db, row)
}

/** Filter of a list, at most 101 at a time: one more than a page, to know whether there is another. */
export interface ReceiptQuery {
  readonly scope: string
  readonly after?: ReceiptCursor | undefined
  readonly limit: number
}

const LONGEST_LIST = 101

/**
 * Lists a scope's receipts, oldest first: for clients that follow them from a receipt on. One that is damaged has no proof,
 * so that the others remain readable.
 */
export const listReceipts: Command<ReceiptQuery, FoundReceipt[]> = async (db, { scope, after, limit }) => {
  let query = selectReceipts(db)
    .where('scope', '=', scope)
    .orderBy('created_at_ms')
    .orderBy('id')
    .limit(Math.min(limit, LONGEST_LIST))
  if (after !== undefined)
    query = query.where((is) =>
      is.or([
        is('created_at_ms', '>', after.createdAtMs),
        is.and([is('created_at_ms', '=', after.createdAtMs), is('id', '>', after.id)]),
      ]),
    )
  return withProofs(db, await query.execute())
}

/** Selects receipts, each with the head that added it. */
function selectReceipts(db: Kysely<Database>) {
  return db
    .selectFrom('receipt')
    .select((of) => [
      'json',
      'leaf_index',
      of
        .selectFrom('receipt_head')
        .select('checkpoint')
        .whereRef('first_leaf', '<=', 'receipt.leaf_index')
        .orderBy('first_leaf', 'desc')
        .limit(1)
        .as('checkpoint'),
    ])
}

interface ReceiptRow {
  readonly json: string
  readonly leaf_index: number | null
  readonly checkpoint: string | null
}

async function proved(db: Kysely<Database>, row: ReceiptRow): Promise<FoundReceipt | undefined> {
  const [found] = await withProofs(db, [row])
  if (row.leaf_index !== null && found?.proof === undefined) throw damaged()
  return found
}

/** Proves each receipt by the head of its own batch, so that its text is always the same. A damaged one has no proof. */
async function withProofs(db: Kysely<Database>, rows: readonly ReceiptRow[]): Promise<FoundReceipt[]> {
  const ranges = rows.map((row) => (isLeaf(row) ? inclusionRanges(row.leaf_index, sizeOf(row.checkpoint)) : []))
  const tree = new StoredTree(db)
  await tree.load(ranges.flat().flatMap(subtreesOf))
  return rows.map((row, i) => {
    const hashes = isLeaf(row) ? tree.hashes(ranges[i] ?? []) : undefined
    const proof = isLeaf(row) && hashes && { leaf_index: row.leaf_index, hashes, checkpoint: row.checkpoint }
    return { json: row.json, proof: proof || undefined }
  })
}

/** Tests whether a row names a leaf of its head; version 1 does not. */
function isLeaf(row: ReceiptRow): row is ReceiptRow & { readonly leaf_index: number; readonly checkpoint: string } {
  const { leaf_index: index, checkpoint } = row
  return index !== null && Number.isSafeInteger(index) && index >= 0 && index < sizeOf(checkpoint)
}

/** Returns the number of leaves of a stored checkpoint; 0 for none. */
export function sizeOf(checkpoint: string | null): number {
  return Number(checkpoint?.split('\n')[1] ?? 0)
}
