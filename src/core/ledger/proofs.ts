import { EMPTY_ROOT, nodeHash } from './merkle.ts'

/** Leaves from `from` to before `to`. */
export interface LeafRange {
  readonly from: number
  readonly to: number
}

/** Returns the largest power of two below a size of at least 2. */
function splitOf(size: number): number {
  let split = 1
  while (split * 2 < size) split *= 2
  return split
}

/** Returns the subtrees whose roots prove that a leaf is in a tree, from the leaf up (RFC 9162, 2.1.3.1). */
export function inclusionRanges(index: number, size: number): LeafRange[] {
  const ranges: LeafRange[] = []
  let [from, to] = [0, size]
  while (to - from > 1) {
    const middle = from + splitOf(to - from)
    ranges.push(index < middle ? { from: middle, to } : { from, to: middle })
    if (index < middle) to = middle
    else from = middle
  }
  return ranges.reverse()
}

/** Returns the subtrees whose roots prove that the first tree is a prefix of the second (RFC 9162, 2.1.4.1). */
export function consistencyRanges(first: number, second: number): LeafRange[] {
  if (first === 0 || first === second) return []
  const ranges: LeafRange[] = []
  let [from, to] = [0, second]
  while (to !== first) {
    const middle = from + splitOf(to - from)
    ranges.push(first <= middle ? { from: middle, to } : { from, to: middle })
    if (first <= middle) to = middle
    else from = middle
  }
  if (from > 0) ranges.push({ from, to })
  return ranges.reverse()
}

/** A complete subtree by its place. */
export interface SubtreePlace {
  readonly level: number
  readonly index: number
}

/** Names the complete subtrees of a range, from the left. */
export function subtreesOf({ from, to }: LeafRange): SubtreePlace[] {
  const size = to - from
  const level = Math.round(Math.log2(size))
  if (2 ** level === size) return [{ level, index: from / size }]
  const middle = from + splitOf(size)
  return [...subtreesOf({ from, to: middle }), ...subtreesOf({ from: middle, to })]
}

/** Computes the root of a range from the hashes of its complete subtrees. */
export function rangeHash(range: LeafRange, hashOf: (place: SubtreePlace) => Buffer): Buffer {
  // Each is smaller than the one to its left.
  return subtreesOf(range)
    .map(hashOf)
    .reduceRight((right, left) => nodeHash(left, right))
}

/** A leaf with the proof that a tree contains it. */
export interface InclusionProof {
  readonly leaf: Buffer
  readonly index: number
  readonly size: number
  /** From the leaf up. */
  readonly hashes: readonly Buffer[]
}

/** Tests whether the tree of this root contains the leaf (RFC 9162, 2.1.3.2). */
export function isIncluded({ leaf, index, size, hashes }: InclusionProof, root: Uint8Array): boolean {
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size) return false
  let [node, last, hash] = [index, size - 1, leaf]
  for (const sibling of hashes) {
    if (last === 0) return false
    if (node % 2 === 1 || node === last) {
      hash = nodeHash(sibling, hash)
      while (node % 2 === 0 && node !== 0) [node, last] = [half(node), half(last)]
    } else hash = nodeHash(hash, sibling)
    ;[node, last] = [half(node), half(last)]
  }
  return last === 0 && hash.equals(root)
}

/** Two trees with the proof that the first is a prefix of the second. */
export interface ConsistencyProof {
  readonly first: number
  readonly firstRoot: Buffer
  readonly second: number
  readonly secondRoot: Buffer
  readonly hashes: readonly Buffer[]
}

/** Tests whether the first tree is a prefix of the second (RFC 9162, 2.1.4.2). */
export function isConsistent({ first, firstRoot, second, secondRoot, hashes }: ConsistencyProof): boolean {
  if (!Number.isSafeInteger(first) || !Number.isSafeInteger(second) || first < 0 || first > second) return false
  if (first === second) return hashes.length === 0 && firstRoot.equals(secondRoot)
  if (first === 0) return hashes.length === 0 && firstRoot.equals(EMPTY_ROOT)
  let [node, last] = [first - 1, second - 1]
  while (node % 2 === 1) [node, last] = [half(node), half(last)]
  // A complete first tree is a node of the second, so its root is left out of the proof.
  const [start, ...rest] = node === 0 ? [firstRoot, ...hashes] : hashes
  if (start === undefined) return false
  let [old, whole] = [start, start]
  for (const sibling of rest) {
    if (last === 0) return false
    if (node % 2 === 1 || node === last) {
      old = nodeHash(sibling, old)
      whole = nodeHash(sibling, whole)
      while (node % 2 === 0 && node !== 0) [node, last] = [half(node), half(last)]
    } else whole = nodeHash(whole, sibling)
    ;[node, last] = [half(node), half(last)]
  }
  return last === 0 && old.equals(firstRoot) && whole.equals(secondRoot)
}

function half(value: number): number {
  return Math.floor(value / 2)
}
