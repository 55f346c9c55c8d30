import type { Kysely } from 'kysely'
import type { GatewayError } from '../../../core/errors.ts'
import { foldHashes } from '../../../core/ledger/merkle.ts'
import { type LeafRange, rangeHash } from '../../../core/ledger/proofs.ts'
import type { LoggedLeaf } from '../../../core/ports/receipt-log.ts'
import { unavailable } from '../engine/faults.ts'
import { type Places, statement } from '../engine/statement.ts'
import type { Database } from '../schema.ts'

/**
 * DESIGN — reading the tree
 *
 * Leaves are stored in the rows of their heads, and complete subtrees of 16, 256, 4,096, … leaves in rows of their own.
 * Sixteen neighbours of one of these levels are a tile. Any other subtree is the fold of a part of one tile, so that a proof
 * reads at most two tiles for each four levels of the tree, and hashes at most fifteen times a tile.
 */

/** Levels between stored nodes. */
export const TILE_LEVELS = 4
const TILE_SIZE = 2 ** TILE_LEVELS

/** The stored tree, with its tiles cached: for one command. */
export class StoredTree {
  readonly #db: Kysely<Database>
  readonly #tiles = new Map<string, readonly Buffer[]>()

  constructor(db: Kysely<Database>) {
    this.#db = db
  }

  /** Returns the roots of ranges, in base64. */
  async hashes(ranges: readonly LeafRange[]): Promise<string[]> {
    const found: string[] = []
    for (const range of ranges)
      found.push((await rangeHash(range, (level, index) => this.subtree(level, index))).toString('base64'))
    return found
  }

  /** Returns the root of a complete subtree. Throws `service_unavailable` when its hashes are not stored. */
  async subtree(level: number, index: number): Promise<Buffer> {
    const inTile = level % TILE_LEVELS
    const first = index * 2 ** inTile
    const tile = await this.#tile(level - inTile, Math.floor(first / TILE_SIZE))
    const part = tile.slice(first % TILE_SIZE, (first % TILE_SIZE) + 2 ** inTile)
    if (part.length < 2 ** inTile) throw damaged()
    return foldHashes(part)
  }

  async #tile(level: number, index: number): Promise<readonly Buffer[]> {
    const name = `${level}/${index}`
    const known = this.#tiles.get(name)
    if (known !== undefined) return known
    const span = { from: index * TILE_SIZE, to: (index + 1) * TILE_SIZE }
    const hashes =
      level === 0 ? (await readLeaves(this.#db, span)).map(({ hash }) => hash) : await this.#nodes(level, span)
    const tile = hashes.map((hash) => Buffer.from(hash, 'base64'))
    this.#tiles.set(name, tile)
    return tile
  }

  async #nodes(level: number, { from, to }: LeafRange): Promise<string[]> {
    const rows = await selectNodes(this.#db, { level, from, to })
    if (rows.some(({ node_index }, i) => node_index !== from + i)) throw damaged()
    return rows.map(({ hash }) => hash)
  }
}

/** Returns the leaves of a range, fewer at the end of the ledger. Throws `service_unavailable` when one is missing before. */
export async function readLeaves(db: Kysely<Database>, { from, to }: LeafRange): Promise<LoggedLeaf[]> {
  const rows = await selectHeads(db, { from, to })
  const found: LoggedLeaf[] = []
  let next = from
  for (const { first_leaf: first, leaves } of rows) {
    const batch = leavesOf(leaves)
    if (first > next) throw damaged()
    const part = batch.slice(next - first, to - first)
    found.push(...part)
    next += part.length
  }
  return found
}

/** Parses the leaves of a head. */
export function leavesOf(json: string): LoggedLeaf[] {
  // Safe: `printLeaves` alone writes them.
  return (JSON.parse(json) as [id: string, hash: string][]).map(([id, hash]) => ({ id, hash }))
}

/** Prints the leaves of a head. */
export function printLeaves(leaves: readonly LoggedLeaf[]): string {
  return JSON.stringify(leaves.map(({ id, hash }) => [id, hash]))
}

/** Creates the error of a ledger whose rows do not belong together. */
export function damaged(): GatewayError {
  return unavailable('The ledger of receipts is damaged: see `turnpike ledger verify`.')
}

/** Nodes of a level, from one index to before another. */
type NodeSpan = { readonly level: number; readonly from: number; readonly to: number }

const selectNodes = statement(['level', 'from', 'to'], (db, { level, from, to }: Places<NodeSpan>) =>
  db
    .selectFrom('receipt_node')
    .select(['node_index', 'hash'])
    .where('level', '=', level)
    .where('node_index', '>=', from)
    .where('node_index', '<', to)
    .orderBy('node_index'),
)

/** Selects the heads with leaves of a range; the first may begin before it. */
const selectHeads = statement(['from', 'to'], (db, { from, to }: Places<Pick<NodeSpan, 'from' | 'to'>>) =>
  db
    .selectFrom('receipt_head')
    .select(['first_leaf', 'leaves'])
    .where('first_leaf', '<', to)
    .where('first_leaf', '>=', (of) =>
      of
        .selectFrom('receipt_head')
        .select(({ fn }) => fn.coalesce(fn.max('first_leaf'), from).as('first'))
        .where('first_leaf', '<=', from),
    )
    .orderBy('first_leaf'),
)
