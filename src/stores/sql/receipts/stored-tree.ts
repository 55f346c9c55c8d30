import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { GatewayError } from '../../../core/errors.ts'
import { foldHashes } from '../../../core/ledger/merkle.ts'
import { type LeafRange, rangeHash, type SubtreePlace, subtreesOf } from '../../../core/ledger/proofs.ts'
import { hashOfLeaf } from '../../../core/ledger/receipt-leaf.ts'
import type { LoggedLeaf } from '../../../core/ports/receipt-log.ts'
import { unavailable } from '../engine/faults.ts'
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

/** Sixteen neighbours of one stored level. */
interface Tile {
  readonly level: number
  /** Index of its first node or leaf. */
  readonly from: number
}

/** Parts of the stored tree that were loaded. */
export class StoredTree {
  readonly #db: Kysely<Database>
  /** By level and first index. */
  readonly #tiles = new Map<string, readonly Buffer[]>()

  constructor(db: Kysely<Database>) {
    this.#db = db
  }

  /** Loads what the hashes of these subtrees take, by two queries. */
  async load(places: readonly SubtreePlace[]): Promise<void> {
    const missing = new Map<string, Tile>()
    for (const place of places) {
      const tile = tileOf(place)
      if (!this.#tiles.has(nameOf(tile))) missing.set(nameOf(tile), tile)
    }
    const tiles = [...missing.values()]
    await this.#loadLeaves(tiles.filter(({ level }) => level === 0))
    await this.#loadNodes(tiles.filter(({ level }) => level > 0))
  }

  /** Returns the root of a complete subtree that was loaded. Throws `service_unavailable` when its hashes are not stored. */
  subtree(place: SubtreePlace): Buffer {
    if (!this.#has(place)) throw damaged()
    return foldHashes(this.#partOf(place))
  }

  /** Returns the roots of ranges that were loaded, in base64; `undefined` when a hash is not stored. */
  hashes(ranges: readonly LeafRange[]): string[] | undefined {
    if (!ranges.flatMap(subtreesOf).every((place) => this.#has(place))) return undefined
    return ranges.map((range) => rangeHash(range, (place) => this.subtree(place)).toString('base64'))
  }

  #has(place: SubtreePlace): boolean {
    return this.#partOf(place).length === 2 ** (place.level % TILE_LEVELS)
  }

  #partOf(place: SubtreePlace): readonly Buffer[] {
    const tile = tileOf(place)
    const width = 2 ** (place.level - tile.level)
    const start = place.index * width - tile.from
    return this.#tiles.get(nameOf(tile))?.slice(start, start + width) ?? []
  }

  async #loadLeaves(tiles: readonly Tile[]): Promise<void> {
    if (tiles.length === 0) return
    const heads = await selectHeads(this.#db, tiles.map(spanOf))
    for (const tile of tiles) this.#keep(tile, leavesIn(heads, spanOf(tile)).map(hashOfLeaf))
  }

  async #loadNodes(tiles: readonly Tile[]): Promise<void> {
    if (tiles.length === 0) return
    const rows = await selectNodes(this.#db, tiles)
    const byTile = Map.groupBy(rows, ({ level, node_index: index }) =>
      nameOf({ level, from: index - (index % TILE_SIZE) }),
    )
    for (const tile of tiles) {
      const nodes = byTile.get(nameOf(tile)) ?? []
      // Those before the first gap.
      const whole = nodes.filter(({ node_index: index }, i) => index === tile.from + i)
      this.#keep(
        tile,
        whole.map(({ hash }) => Buffer.from(hash, 'base64')),
      )
    }
  }

  #keep(tile: Tile, hashes: readonly Buffer[]): void {
    this.#tiles.set(nameOf(tile), hashes)
  }
}

function tileOf({ level, index }: SubtreePlace): Tile {
  const inTile = level % TILE_LEVELS
  const first = index * 2 ** inTile
  return { level: level - inTile, from: first - (first % TILE_SIZE) }
}

function spanOf({ from }: Tile): LeafRange {
  return { from, to: from + TILE_SIZE }
}

function nameOf({ level, from }: Tile): string {
  return `${level}/${from}`
}

/** Returns the leaves of a range up to the end of the ledger, or to the first that is not stored. */
export async function readLeaves(db: Kysely<Database>, range: LeafRange): Promise<LoggedLeaf[]> {
  return leavesIn(await selectHeads(db, [range]), range)
}

interface HeadRow {
  readonly first_leaf: number
  readonly leaves: string
}

function leavesIn(heads: readonly HeadRow[], { from, to }: LeafRange): LoggedLeaf[] {
  const start = Math.max(
    0,
    heads.findLastIndex(({ first_leaf: first }) => first <= from),
  )
  const found: LoggedLeaf[] = []
  for (let i = start, next = from; next < to; i++) {
    const head = heads[i]
    if (head === undefined || head.first_leaf >= to || head.first_leaf > next) break
    const part = leavesOf(head.leaves)?.slice(next - head.first_leaf, to - head.first_leaf) ?? []
    found.push(...part)
    next += part.length
  }
  return found
}

/** Parses the leaves of a head; `undefined` for a text that is no list of leaves. */
export function leavesOf(json: string): LoggedLeaf[] | undefined {
  try {
    const pairs: unknown = JSON.parse(json)
    return Array.isArray(pairs) && pairs.every(isPair) ? pairs.map(([id, content]) => ({ id, content })) : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function isPair(value: unknown): value is [id: string, content: string] {
  const [id, content, ...rest]: unknown[] = Array.isArray(value) ? value : []
  return typeof id === 'string' && typeof content === 'string' && SHA256.test(content) && rest.length === 0
}

/** SHA-256 in base64, whose last digit has two bits of padding. */
const SHA256 = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/

/** Prints the leaves of a head. */
export function printLeaves(leaves: readonly LoggedLeaf[]): string {
  return JSON.stringify(leaves.map(({ id, content }) => [id, content]))
}

/** Creates the error of a ledger whose rows do not belong together. */
export function damaged(): GatewayError {
  return unavailable('The ledger of receipts is damaged: see `turnpike ledger verify`.')
}

/** Selects a statement: SQLite takes at most 500. */
const MOST_SELECTS = 100

/**
 * Runs a select for each item, many in one statement. Each is a range of a primary key: of many ranges in one `or`, SQLite
 * makes a scan of the whole table.
 */
async function selectEach<Item, Row>(
  db: Kysely<Database>,
  items: readonly Item[],
  select: (item: Item) => RawBuilder<Row>,
): Promise<Row[]> {
  const rows: Row[] = []
  for (let start = 0; start < items.length; start += MOST_SELECTS) {
    const found = await unionOf(items.slice(start, start + MOST_SELECTS).map(select)).execute(db)
    rows.push(...found.rows)
  }
  return rows
}

/** Joins selects into one statement. */
export function unionOf<Row>(selects: readonly RawBuilder<Row>[]): RawBuilder<Row> {
  return sql<Row>`${sql.join(selects, sql` union all `)}`
}

interface NodeRow {
  readonly level: number
  readonly node_index: number
  readonly hash: string
}

async function selectNodes(db: Kysely<Database>, tiles: readonly Tile[]): Promise<NodeRow[]> {
  const rows = await selectEach(db, tiles, nodesOf)
  return rows.sort((a, b) => a.node_index - b.node_index)
}

/** Selects the nodes of a tile. */
export function nodesOf(tile: Tile): RawBuilder<NodeRow> {
  return sql<NodeRow>`select level, node_index, hash from receipt_node
    where level = ${tile.level} and node_index >= ${tile.from} and node_index < ${spanOf(tile).to}`
}

/** Selects the heads with leaves of these ranges, each once and in order; the first of a range may begin before it. */
async function selectHeads(db: Kysely<Database>, ranges: readonly LeafRange[]): Promise<HeadRow[]> {
  const rows = await selectEach(db, ranges, headsOf)
  const byLeaf = new Map(rows.map((row) => [row.first_leaf, row]))
  return [...byLeaf.values()].sort((a, b) => a.first_leaf - b.first_leaf)
}

/** Selects the heads of a range. */
export function headsOf({ from, to }: LeafRange): RawBuilder<HeadRow> {
  return sql<HeadRow>`select first_leaf, leaves from receipt_head where first_leaf < ${to}
    and first_leaf >= (select max(first_leaf) from receipt_head where first_leaf <= ${from})`
}
