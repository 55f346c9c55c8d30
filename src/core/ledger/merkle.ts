import { hash } from 'node:crypto'

/**
 * DESIGN — Merkle tree of a transparency log (RFC 9162, section 2.1)
 *
 * A leaf is SHA-256(0x00 ‖ bytes), a node SHA-256(0x01 ‖ left ‖ right), the root of an empty tree SHA-256 of nothing. A tree
 * is split at the largest power of two below its size, so all but its right edge are complete subtrees that never
 * change. `(level, index)` names a complete subtree: that of leaves `index · 2^level` to `(index + 1) · 2^level`.
 */

const LEAF = Buffer.of(0)
const NODE = Buffer.of(1)

/** Root of the empty tree. */
export const EMPTY_ROOT: Buffer = hash('sha256', '', 'buffer')

/** Returns the hash of a leaf. */
export function leafHash(bytes: Uint8Array): Buffer {
  return hash('sha256', Buffer.concat([LEAF, bytes]), 'buffer')
}

/** Returns the hash of a node. */
export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  return hash('sha256', Buffer.concat([NODE, left, right]), 'buffer')
}

/** Returns the root of a complete subtree from its leaves or nodes of one level; their number is a power of two. */
export function foldHashes(hashes: readonly Buffer[]): Buffer {
  let level = hashes
  while (level.length > 1) {
    const above: Buffer[] = []
    for (let i = 0; i + 1 < level.length; i += 2) above.push(nodeHash(at(level, i), at(level, i + 1)))
    level = above
  }
  return at(level, 0)
}

/** A complete subtree. */
export interface Subtree {
  readonly level: number
  readonly index: number
  readonly hash: Buffer
}

/** The right edge of a tree: the roots of its largest complete subtrees, which suffice to append to it. */
export class TreeEdge {
  #size = 0
  /** From the left, so the largest first. */
  readonly #roots: { readonly level: number; readonly hash: Buffer }[] = []

  /** Creates the edge of a tree of `size` leaves from the roots of `edgeSubtrees(size)`. */
  static of(size: number, hashes: readonly Buffer[]): TreeEdge {
    const edge = new TreeEdge()
    edge.#size = size
    for (const [i, { level }] of edgeSubtrees(size).entries()) edge.#roots.push({ level, hash: at(hashes, i) })
    return edge
  }

  get size(): number {
    return this.#size
  }

  copy(): TreeEdge {
    return TreeEdge.of(
      this.#size,
      this.#roots.map((root) => root.hash),
    )
  }

  /** Appends a leaf and returns the subtrees above it that it completes. */
  append(leaf: Buffer): Subtree[] {
    const completed: Subtree[] = []
    let hash = leaf
    let level = 0
    for (let last = this.#roots.at(-1); last?.level === level; last = this.#roots.at(-1)) {
      this.#roots.pop()
      hash = nodeHash(last.hash, hash)
      level++
      completed.push({ level, index: Math.floor(this.#size / 2 ** level), hash })
    }
    this.#roots.push({ level, hash })
    this.#size++
    return completed
  }

  root(): Buffer {
    const [right, ...lefts] = this.#roots.map(({ hash }) => hash).reverse()
    return right === undefined ? EMPTY_ROOT : lefts.reduce((root, left) => nodeHash(left, root), right)
  }
}

/** Names the largest complete subtrees of a tree, from the left. */
export function edgeSubtrees(size: number): { readonly level: number; readonly index: number }[] {
  const found: { level: number; index: number }[] = []
  for (let start = 0; start < size; ) {
    let level = 0
    while (start + 2 ** (level + 1) <= size) level++
    found.push({ level, index: start / 2 ** level })
    start += 2 ** level
  }
  return found
}

function at(hashes: readonly Buffer[], i: number): Buffer {
  const hash = hashes[i]
  if (hash === undefined) throw new RangeError(`There is no hash ${i} of ${hashes.length}.`)
  return hash
}
