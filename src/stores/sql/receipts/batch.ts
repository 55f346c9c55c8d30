import { type Kysely, sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import {
  type Checkpoint,
  CheckpointError,
  type NoteKey,
  type NoteSigner,
  noteKey,
  parseCheckpoint,
  signCheckpoint,
  signerOf,
} from '../../../core/ledger/checkpoint.ts'
import { edgeSubtrees, TreeEdge } from '../../../core/ledger/merkle.ts'
import { contentHash, hashOfLeaf } from '../../../core/ledger/receipt-leaf.ts'
import type { LoggedLeaf } from '../../../core/ports/receipt-log.ts'
import type { StoredReceipt } from '../../../core/telemetry/receipt.ts'
import { unavailable } from '../engine/faults.ts'
import { statement } from '../engine/statement.ts'
import type { Database } from '../schema.ts'
import { damaged, printLeaves, readLeaves, StoredTree, TILE_LEVELS } from './stored-tree.ts'

/** The key that signs heads, and the keys whose heads it continues. */
export interface LedgerKey extends NoteSigner {
  /** Raw public keys in base64url. */
  readonly earlier: readonly string[]
}

/** Receipts to append together, and the key that signs their head. */
export interface ReceiptBatch {
  readonly receipts: readonly StoredReceipt[]
  readonly key: LedgerKey
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

/** Planned rows. */
export interface PlannedBatch extends BatchRows {
  /** Keeps the new edge of the tree in memory; called once the rows are stored. */
  remember(): void
}

/** The log as of its latest head. */
interface OpenLog {
  readonly origin: string
  readonly edge: TreeEdge
}

/** Leaves that other processes may have appended since this one's last batch, before the edge is read anew. */
const MOST_FOLLOWED = 512
/** Edges after this process's latest batches, of its databases: by origin, key, size and root. */
const recent = new LRUCache<string, TreeEdge>({ max: 8 })
const latest = new LRUCache<string, TreeEdge>({ max: 8 })

/** Plans the rows of a batch after the latest head: hashes the receipts and signs the new head. */
export async function planBatch(db: Kysely<Database>, { receipts, key }: ReceiptBatch): Promise<PlannedBatch> {
  const { origin, edge } = await openLog(db, key)
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
  return {
    remember: () => remember({ origin, key }, next),
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

/** Returns those receipts, each once, whose ids are not stored; `select` returns the stored ones of these ids. */
export async function withoutStored(
  receipts: readonly StoredReceipt[],
  select: (ids: readonly string[]) => Promise<readonly { readonly id: string }[]>,
): Promise<StoredReceipt[]> {
  const byId = new Map(receipts.map((receipt) => [receipt.id, receipt]))
  for (const { id } of await select([...byId.keys()])) byId.delete(id)
  return [...byId.values()]
}

async function openLog(db: Kysely<Database>, key: LedgerKey): Promise<OpenLog> {
  const [log] = await selectLog(db, {})
  if (log === undefined || !OWN_ORIGIN.test(log.origin)) throw damaged()
  const { origin, checkpoint } = log
  if (checkpoint === null) return { origin, edge: new TreeEdge() }
  const head = headOf(checkpoint)
  if (head.origin !== origin) throw damaged()
  const edge = recent.get(nameOf({ origin, key }, head)) ?? (await readEdge(db, head, key))
  return { origin, edge }
}

/** Names that the migration gives; another would be signed as it is. */
const OWN_ORIGIN = /^turnpike\/ledger\/[0-9a-f]{20}$/

function headOf(checkpoint: string): Checkpoint {
  try {
    return parseCheckpoint(checkpoint)
  } catch (cause) {
    if (cause instanceof CheckpointError) throw damaged()
    throw cause
  }
}

/**
 * Reads the edge of the latest head, which this process has not signed. A process that shares the ledger follows the others
 * from its own last batch. A head by an unknown key is not continued: the next signature would cover its leaves too.
 */
async function readEdge(db: Kysely<Database>, head: Checkpoint, key: LedgerKey): Promise<TreeEdge> {
  const { origin, size, root } = head
  if (signerOf(head, [key.raw, ...key.earlier].map(knownKey)) === undefined) throw unavailable(FOREIGN)
  const own = latest.get(logOf({ origin, key }))
  if (own !== undefined && own.size < size && size - own.size <= MOST_FOLLOWED) {
    const edge = own.copy()
    for (const leaf of await readLeaves(db, { from: own.size, to: size })) edge.append(hashOfLeaf(leaf))
    if (edge.size === size && edge.root().equals(root)) return edge
  }
  const tree = new StoredTree(db)
  const places = edgeSubtrees(size)
  await tree.load(places)
  const hashes = places.map((place) => tree.subtree(place))
  const edge = TreeEdge.of(size, hashes)
  // Another head would confirm leaves that are not those of the head before.
  if (!edge.root().equals(root)) throw damaged()
  return edge
}

const FOREIGN =
  'The latest head of the ledger is signed by an unknown key: put its public half into data_dir as receipt-key.<name>.pem.'

const known = new LRUCache<string, NoteKey>({ max: 64 })

function knownKey(raw: string): NoteKey {
  const key = known.get(raw) ?? noteKey(raw)
  known.set(raw, key)
  return key
}

interface SignedLog {
  readonly origin: string
  readonly key: LedgerKey
}

function remember(log: SignedLog, edge: TreeEdge): void {
  recent.set(nameOf(log, { size: edge.size, root: edge.root() }), edge)
  latest.set(logOf(log), edge)
}

function logOf({ origin, key }: SignedLog): string {
  return `${origin} ${key.raw}`
}

function nameOf(log: SignedLog, { size, root }: Pick<Checkpoint, 'size' | 'root'>): string {
  return `${logOf(log)} ${size} ${root.toString('base64')}`
}

const selectLog = statement([], (db) =>
  db.selectFrom('receipt_log').select(['origin', latestCheckpoint().as('checkpoint')]),
)

/** Selects the latest head's checkpoint; `null` while the ledger is empty. */
export function latestCheckpoint() {
  return sql<string | null>`(select checkpoint from receipt_head order by first_leaf desc limit 1)`
}
