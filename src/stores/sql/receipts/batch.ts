import { type Kysely, sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import { type NoteSigner, signCheckpoint } from '../../../core/ledger/checkpoint.ts'
import { EMPTY_ROOT, edgeSubtrees, TreeEdge } from '../../../core/ledger/merkle.ts'
import { contentHash, hashOfLeaf } from '../../../core/ledger/receipt-leaf.ts'
import type { LoggedLeaf } from '../../../core/ports/receipt-log.ts'
import type { StoredReceipt } from '../../../core/telemetry/receipt.ts'
import { statement } from '../engine/statement.ts'
import type { Database } from '../schema.ts'
import { damaged, printLeaves, readLeaves, StoredTree, TILE_LEVELS } from './stored-tree.ts'

/** Receipts to append together, and the key that signs their head. */
export interface ReceiptBatch {
  readonly receipts: readonly StoredReceipt[]
  readonly key: NoteSigner
}

/** Rows of a batch: its receipts, the head that adds them, and the nodes that it completes. */
export interface BatchRows {
  readonly receipts: readonly {
    readonly id: string
    readonly scope: string
    readonly created_at_ms: number
    readonly json: string
    readonly leaf_index: number
  }[]
  readonly head: { readonly first_leaf: number; readonly checkpoint: string; readonly leaves: string }
  readonly nodes: readonly { readonly level: number; readonly node_index: number; readonly hash: string }[]
}

/** The log as of its latest head. */
interface OpenLog {
  readonly origin: string
  readonly edge: TreeEdge
}

/** Leaves that other processes may have appended since this one's last batch, before the edge is read anew. */
const MOST_FOLLOWED = 512
/** Edges after this process's latest batches, by size and root: of its databases. */
const recent = new LRUCache<string, TreeEdge>({ max: 8 })
const latest = new LRUCache<string, TreeEdge>({ max: 8 })

/** Plans the rows of a batch after the latest head: hashes the receipts and signs the new head. */
export async function planBatch(db: Kysely<Database>, { receipts, key }: ReceiptBatch): Promise<BatchRows> {
  const { origin, edge } = await openLog(db)
  const firstLeaf = edge.size
  const next = edge.copy()
  const leaves: LoggedLeaf[] = []
  const nodes: BatchRows['nodes'][number][] = []
  for (const { id, json } of receipts) {
    const leaf = { id, content: contentHash(json) }
    leaves.push(leaf)
    for (const { level, index, hash } of next.append(hashOfLeaf(leaf)))
      if (level % TILE_LEVELS === 0) nodes.push({ level, node_index: index, hash: hash.toString('base64') })
  }
  const checkpoint = signCheckpoint({ origin, size: next.size, root: next.root() }, key)
  remember(origin, next)
  return {
    receipts: receipts.map(({ id, scope, createdAtMs, json }, i) => ({
      id,
      scope,
      created_at_ms: createdAtMs,
      json,
      leaf_index: firstLeaf + i,
    })),
    head: { first_leaf: firstLeaf, checkpoint, leaves: printLeaves(leaves) },
    nodes,
  }
}

/** Returns those receipts, each once, whose ids are not stored. */
export async function withoutStored(
  db: Kysely<Database>,
  receipts: readonly StoredReceipt[],
): Promise<StoredReceipt[]> {
  const byId = new Map(receipts.map((receipt) => [receipt.id, receipt]))
  const rows = await db
    .selectFrom('receipt')
    .select('id')
    .where('id', 'in', [...byId.keys()])
    .execute()
  for (const { id } of rows) byId.delete(id)
  return [...byId.values()]
}

async function openLog(db: Kysely<Database>): Promise<OpenLog> {
  const [log] = await selectLog(db, {})
  if (log === undefined) throw damaged()
  const { origin, checkpoint } = log
  const [, size = '0', root = EMPTY_ROOT.toString('base64')] = checkpoint?.split('\n') ?? []
  const edge = recent.get(nameOf(Number(size), root)) ?? (await readEdge(db, { origin, size: Number(size), root }))
  return { origin, edge }
}

interface KnownHead {
  readonly origin: string
  readonly size: number
  readonly root: string
}

/** Reads the edge of the latest head. A process that shares the ledger follows the others from its own last batch. */
async function readEdge(db: Kysely<Database>, head: KnownHead): Promise<TreeEdge> {
  const { origin, size, root } = head
  const own = latest.get(origin)
  if (own !== undefined && own.size < size && size - own.size <= MOST_FOLLOWED) {
    const edge = own.copy()
    for (const leaf of await readLeaves(db, { from: own.size, to: size })) edge.append(hashOfLeaf(leaf))
    if (edge.size === size && edge.root().toString('base64') === root) return edge
  }
  const tree = new StoredTree(db)
  const places = edgeSubtrees(size)
  await tree.load(places)
  const hashes = places.map((place) => tree.subtree(place))
  const edge = TreeEdge.of(size, hashes)
  // Another head would confirm leaves that are not those of the head before.
  if (edge.root().toString('base64') !== root) throw damaged()
  return edge
}

function remember(origin: string, edge: TreeEdge): void {
  recent.set(nameOf(edge.size, edge.root().toString('base64')), edge)
  latest.set(origin, edge)
}

function nameOf(size: number, root: string): string {
  return `${size} ${root}`
}

const selectLog = statement([], (db) =>
  db.selectFrom('receipt_log').select(['origin', latestCheckpoint().as('checkpoint')]),
)

/** Selects the latest head's checkpoint; `null` while the ledger is empty. */
export function latestCheckpoint() {
  return sql<string | null>`(select checkpoint from receipt_head order by first_leaf desc limit 1)`
}
