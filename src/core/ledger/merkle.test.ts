import test from 'ava'
import fc from 'fast-check'
import { EMPTY_ROOT, edgeSubtrees, foldHashes, leafHash, nodeHash, TreeEdge } from './merkle.ts'
import { consistencyRanges, inclusionRanges, isConsistent, isIncluded, rangeHash, type SubtreePlace } from './proofs.ts'

/** The eight leaves of the reference tree of Certificate Transparency (RFC 6962 implementations), with its roots by size. */
const LEAVES = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f']
const ROOTS = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
]
const known = LEAVES.map((hex) => leafHash(Buffer.from(hex, 'hex')))

/** Proofs of the same reference tree: `[index, size, hashes]` and `[first, second, hashes]`. */
const INCLUSIONS: readonly [number, number, readonly string[]][] = [
  [0, 1, []],
  [
    0,
    8,
    [
      '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
    ],
  ],
  [
    5,
    8,
    [
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ],
  ],
  [2, 3, ['fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125']],
  [
    1,
    5,
    [
      '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
    ],
  ],
]
const CONSISTENCIES: readonly [number, number, readonly string[]][] = [
  [1, 1, []],
  [
    1,
    8,
    [
      '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
    ],
  ],
  [
    6,
    8,
    [
      '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ],
  ],
  [
    2,
    5,
    [
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
    ],
  ],
]

/** Returns the root by the definition of RFC 9162, section 2.1.1. */
function rootOf(leaves: readonly Buffer[]): Buffer {
  if (leaves.length <= 1) return leaves[0] ?? EMPTY_ROOT
  let split = 1
  while (split * 2 < leaves.length) split *= 2
  return nodeHash(rootOf(leaves.slice(0, split)), rootOf(leaves.slice(split)))
}

const hashIn =
  (leaves: readonly Buffer[]) =>
  ({ level, index }: SubtreePlace) =>
    foldHashes(leaves.slice(index * 2 ** level, (index + 1) * 2 ** level))
const hashesOf = (leaves: readonly Buffer[], ranges: ReturnType<typeof inclusionRanges>) =>
  ranges.map((range) => rangeHash(range, hashIn(leaves)))
const manyLeaves = (count: number) => Array.from({ length: count }, (_, i) => leafHash(Buffer.from(`leaf ${i}`)))
const toHex = (hashes: readonly Buffer[]) => hashes.map((hash) => hash.toString('hex'))

test('merkle: roots of the reference tree', (t) => {
  t.is(EMPTY_ROOT.toString('hex'), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  const edge = new TreeEdge()
  t.deepEqual(edge.root(), EMPTY_ROOT)
  t.deepEqual(
    known.map((leaf) => {
      edge.append(leaf)
      return edge.root().toString('hex')
    }),
    ROOTS,
  )
})

test('merkle: proofs of the reference tree', (t) => {
  for (const [index, size, expected] of INCLUSIONS) {
    const hashes = hashesOf(known, inclusionRanges(index, size))
    t.deepEqual(toHex(hashes), [...expected], `${index} in ${size}`)
    t.true(isIncluded({ leaf: known[index]!, index, size, hashes }, Buffer.from(ROOTS[size - 1]!, 'hex')))
  }
  for (const [first, second, expected] of CONSISTENCIES) {
    const hashes = hashesOf(known, consistencyRanges(first, second))
    t.deepEqual(toHex(hashes), [...expected], `${first} to ${second}`)
    const [firstRoot, secondRoot] = [first, second].map((size) => Buffer.from(ROOTS[size - 1]!, 'hex'))
    t.true(isConsistent({ first, firstRoot: firstRoot!, second, secondRoot: secondRoot!, hashes }))
  }
})

/** Returns a copy with one bit flipped. */
function flipped(hash: Buffer, bit: number): Buffer {
  const copy = Buffer.from(hash)
  const place = Math.floor(bit / 8) % copy.length
  copy[place] = (copy[place] ?? 0) ^ (1 << (bit % 8))
  return copy
}

test('merkle: every inclusion proof verifies, and none with a flipped bit, another place or another size', (t) => {
  const check = (size: number, place: number, bit: number) => {
    const leaves = manyLeaves(size)
    const index = place % size
    const root = rootOf(leaves)
    const hashes = hashesOf(leaves, inclusionRanges(index, size))
    const proof = { leaf: leaves[index]!, index, size, hashes }
    t.true(isIncluded(proof, root))
    t.false(isIncluded({ ...proof, leaf: flipped(proof.leaf, bit) }, root))
    t.false(isIncluded(proof, flipped(root, bit)))
    t.false(isIncluded({ ...proof, hashes: [...hashes, root] }, root))
    for (const i of hashes.keys()) {
      t.false(isIncluded({ ...proof, hashes: hashes.with(i, flipped(hashes[i]!, bit)) }, root))
      t.false(isIncluded({ ...proof, hashes: hashes.toSpliced(i, 1) }, root))
    }
    for (const other of [index - 1, index + 1, index + size]) t.false(isIncluded({ ...proof, index: other }, root))
  }
  const sizes = fc.integer({ min: 1, max: 300 })
  fc.assert(fc.property(sizes, fc.nat(), fc.nat({ max: 255 }), check), { numRuns: 60 })
})

test('merkle: every consistency proof verifies, and none with a flipped bit', (t) => {
  const check = (one: number, other: number, bit: number) => {
    const [first, second] = [Math.min(one, other), Math.max(one, other)]
    const leaves = manyLeaves(second)
    const [firstRoot, secondRoot] = [rootOf(leaves.slice(0, first)), rootOf(leaves)]
    const hashes = hashesOf(leaves, consistencyRanges(first, second))
    const proof = { first, firstRoot, second, secondRoot, hashes }
    t.true(isConsistent(proof))
    t.false(isConsistent({ ...proof, firstRoot: flipped(firstRoot, bit) }))
    if (first > 0) t.false(isConsistent({ ...proof, secondRoot: flipped(secondRoot, bit) }))
    t.false(isConsistent({ ...proof, hashes: [...hashes, secondRoot] }))
    for (const i of hashes.keys()) {
      t.false(isConsistent({ ...proof, hashes: hashes.with(i, flipped(hashes[i]!, bit)) }))
      t.false(isConsistent({ ...proof, hashes: hashes.toSpliced(i, 1) }))
    }
  }
  const sizes = fc.integer({ min: 0, max: 300 })
  fc.assert(fc.property(sizes, sizes, fc.nat({ max: 255 }), check), { numRuns: 60 })
})

test('merkle: an edge from its subtrees continues like the one that has seen every leaf', (t) => {
  const leaves = manyLeaves(200)
  const whole = new TreeEdge()
  for (const [size, leaf] of leaves.entries()) {
    const hashes = edgeSubtrees(size).map(({ level, index }) =>
      foldHashes(leaves.slice(index * 2 ** level, (index + 1) * 2 ** level)),
    )
    const opened = TreeEdge.of(size, hashes)
    t.deepEqual(opened.append(leaf), whole.append(leaf))
    t.deepEqual(opened.root(), whole.root())
  }
})
