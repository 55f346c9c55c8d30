import type { Kysely } from 'kysely'
import { consistencyRanges, inclusionRanges, type LeafRange, subtreesOf } from '../../../core/ledger/proofs.ts'
import type {
  LeafProof,
  LoggedReceipt,
  LogHead,
  LogState,
  PrefixProof,
  StoredPlace,
} from '../../../core/ports/receipt-log.ts'
import type { Command } from '../engine/command.ts'
import type { Database } from '../schema.ts'
import { latestCheckpoint } from './batch.ts'
import { sizeOf } from './receipts.ts'
import { damaged, leavesOf, StoredTree } from './stored-tree.ts'

const MOST_HEADS = 100
const MOST_STORED = 500

/** Returns the ledger's name, and latest head. */
export const readLog: Command<undefined, LogState> = async (db) => {
  const log = await db
    .selectFrom('receipt_log')
    .select(['origin', 'created_at_ms', latestCheckpoint().as('checkpoint')])
    .executeTakeFirst()
  if (log === undefined) throw damaged()
  const { origin, created_at_ms: createdAtMs, checkpoint } = log
  return { origin, createdAtMs, checkpoint: checkpoint ?? undefined }
}

/** Proves a leaf by the latest head; `undefined` beyond it. */
export const proveInclusion: Command<{ index: number }, LeafProof | undefined> = async (db, { index }) => {
  const { checkpoint } = await db.selectNoFrom(latestCheckpoint().as('checkpoint')).executeTakeFirstOrThrow()
  const size = sizeOf(checkpoint)
  if (checkpoint === null || index >= size) return undefined
  const leaf = { from: index, to: index + 1 }
  const [leaf_hash = '', ...hashes] = await hashesOf(db, [leaf, ...inclusionRanges(index, size)])
  return { leaf_index: index, leaf_hash, hashes, checkpoint }
}

/** Proves that the first leaves are a prefix of the latest head's tree; `undefined` beyond it. */
export const proveConsistency: Command<{ size: number }, PrefixProof | undefined> = async (db, { size }) => {
  const { checkpoint } = await db.selectNoFrom(latestCheckpoint().as('checkpoint')).executeTakeFirstOrThrow()
  if (checkpoint === null || size > sizeOf(checkpoint)) return undefined
  return { hashes: await hashesOf(db, consistencyRanges(size, sizeOf(checkpoint))), checkpoint }
}

async function hashesOf(db: Kysely<Database>, ranges: readonly LeafRange[]): Promise<string[]> {
  const tree = new StoredTree(db)
  await tree.load(ranges.flatMap(subtreesOf))
  const hashes = tree.hashes(ranges)
  if (hashes === undefined) throw damaged()
  return hashes
}

/** Lists heads in order, at most 100. */
export const listHeads: Command<{ fromLeaf: number }, LogHead[]> = async (db, { fromLeaf }) => {
  const rows = await db
    .selectFrom('receipt_head')
    .selectAll()
    .where('first_leaf', '>=', fromLeaf)
    .orderBy('first_leaf')
    .limit(MOST_HEADS)
    .execute()
  return rows.map(({ first_leaf: firstLeaf, checkpoint, leaves }) => ({
    firstLeaf,
    checkpoint,
    leaves: leavesOf(leaves),
  }))
}

/** Returns the stored ones of at most 200 receipts, of any scope. */
export const findLogged: Command<{ ids: readonly string[] }, LoggedReceipt[]> = (db, { ids }) =>
  db
    .selectFrom('receipt')
    .select(['id', 'scope', 'created_at_ms as createdAtMs', 'json', 'leaf_index as leafIndex'])
    .where('id', 'in', ids)
    .execute()

/** Lists stored receipts by id, at most 500. */
export const listStored: Command<{ afterId: string }, StoredPlace[]> = (db, { afterId }) =>
  db
    .selectFrom('receipt')
    .select((of) => [
      'id',
      'leaf_index as leafIndex',
      of.case().when('leaf_index', 'is', null).then(of.ref('json')).else(null).end().as('json'),
    ])
    .where('id', '>', afterId)
    .orderBy('id')
    .limit(MOST_STORED)
    .execute()
