import { createPrivateKey, createPublicKey } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import test from 'ava'
import { noteKeyId, signCheckpoint } from '../../src/core/ledger/checkpoint.ts'
import { foldHashes, TreeEdge } from '../../src/core/ledger/merkle.ts'
import { consistencyRanges, inclusionRanges, rangeHash, type SubtreePlace } from '../../src/core/ledger/proofs.ts'
import { contentHash, hashOfLeaf } from '../../src/core/ledger/receipt-leaf.ts'

const ORIGIN = 'turnpike/ledger/example'
/** PKCS #8 of an Ed25519 key, up to its seed. */
const PKCS8 = '302e020100300506032b657004220420'

test('docs: the test vectors of the ledger are what the gateway computes', async (t) => {
  const page = await readFile(new URL('../../docs/ledger.md', import.meta.url), 'utf8')
  const der = Buffer.from(`${PKCS8}${'07'.repeat(32)}`, 'hex')
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const raw = createPublicKey(privateKey).export({ format: 'jwk' }).x ?? ''
  const leaves = [0, 1, 2].map((n) => hashOfLeaf({ id: `rcpt_${n}`, content: contentHash(`{"n":${n}}`) }))
  const edge = new TreeEdge()
  const roots = leaves.map((leaf) => {
    edge.append(leaf)
    return edge.root()
  })
  const named = {
    'leaf 0': leaves[0],
    'leaf 1': leaves[1],
    'leaf 2': leaves[2],
    'root of 2': roots[1],
    'root of 3': roots[2],
  }
  const cell = (name: string) => new RegExp(`^\\| ${name} +\\| (.*?) +\\|$`, 'm').exec(page)?.[1]
  for (const [name, hash] of Object.entries(named)) t.is(cell(name), `\`${hash?.toString('base64')}\``)
  const subtree = ({ level, index }: SubtreePlace) =>
    foldHashes(leaves.slice(index * 2 ** level, (index + 1) * 2 ** level))
  const proofs = {
    'inclusion of leaf 1 in 3': inclusionRanges(1, 3),
    'inclusion of leaf 2 in 3': inclusionRanges(2, 3),
    'consistency of 1 with 3': consistencyRanges(1, 3),
    'consistency of 2 with 3': consistencyRanges(2, 3),
  }
  for (const [name, ranges] of Object.entries(proofs)) {
    const hashes = ranges.map((range) => rangeHash(range, subtree))
    const names = hashes.map((hash) => Object.entries(named).find(([, known]) => known?.equals(hash))?.[0])
    t.is(cell(name), names.join(', '))
  }
  t.true(page.includes(signCheckpoint({ origin: ORIGIN, size: 3, root: edge.root() }, { raw, privateKey })))
  t.true(page.includes(`\`${raw}\``))
  t.true(page.includes(`\`${noteKeyId(ORIGIN, raw).toString('hex')}\``))
})

const MEMBERS = /readonly (\w+)\??:/g
/** From here on the file declares how receipts are stored. */
const STORED = 'export interface StoredReceipt'

const read = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8')

test('docs: the page on receipts names every member that a receipt may have', async (t) => {
  const [source, page] = await Promise.all([read('src/core/telemetry/receipt.ts'), read('docs/receipts.md')])
  const given = source.slice(0, source.indexOf(STORED))
  const members = [...given.matchAll(MEMBERS)].map(([, name]) => name)
  t.true(members.length > 30)
  t.deepEqual(
    members.filter((name) => !new RegExp(`\\b${name}\\b`).test(page)),
    [],
  )
})
