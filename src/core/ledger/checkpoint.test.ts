import { generateKeyPairSync } from 'node:crypto'
import test from 'ava'
import { CheckpointError, noteKeyId, parseCheckpoint, signCheckpoint, signerOf } from './checkpoint.ts'
import { EMPTY_ROOT } from './merkle.ts'

function createKey() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return { privateKey, key: publicKey, raw: publicKey.export({ format: 'jwk' }).x ?? '' }
}

const key = createKey()
const head = { origin: 'turnpike/ledger/test', size: 12, root: EMPTY_ROOT }
const note = signCheckpoint(head, key)

test('checkpoint: is parsed as it was signed, and names its signer', (t) => {
  const checkpoint = parseCheckpoint(note)
  t.like(checkpoint, { origin: head.origin, size: 12 })
  t.deepEqual(checkpoint.root, EMPTY_ROOT)
  t.is(signerOf(checkpoint, [createKey(), key]), key)
  t.is(signerOf(checkpoint, [createKey()]), undefined)
})

test('checkpoint: the id of a key is that of signed notes', (t) => {
  // The verifier key of the Go module checksum database: sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8
  const raw = Buffer.from('Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8', 'base64').subarray(1).toString('base64url')
  t.is(noteKeyId('sum.golang.org', raw).toString('hex'), '033de0ae')
})

test('checkpoint: no other text of it verifies', (t) => {
  const isValid = (text: string): boolean => {
    try {
      return signerOf(parseCheckpoint(text), [key]) !== undefined
    } catch (error) {
      if (error instanceof CheckpointError) return false
      throw error
    }
  }
  t.true(isValid(note))
  for (const [i, letter] of [...note].entries()) {
    const others = [...'AB1w/+=\n —'].filter((other) => other !== letter)
    for (const other of others) {
      const changed = [...note].with(i, other).join('')
      t.false(isValid(changed), JSON.stringify(changed))
    }
    t.false(isValid([...note].toSpliced(i, 1).join('')), `without ${i}`)
  }
})

test('checkpoint: further signatures are allowed', (t) => {
  const witness = createKey()
  const value = Buffer.concat([noteKeyId('a.witness', witness.raw), Buffer.alloc(64)]).toString('base64')
  t.is(signerOf(parseCheckpoint(`${note}— a.witness ${value}\n`), [key]), key)
})

test('checkpoint: a text of another kind is refused', (t) => {
  for (const text of [
    '',
    '\n\n',
    note.trimEnd(),
    `${note}\n`,
    note.replace('12', '012'),
    note.replace('12', '-1'),
    'x'.repeat(5000),
  ])
    t.throws(() => parseCheckpoint(text), { instanceOf: CheckpointError })
})

test('checkpoint: a name that would make another text is not signed', (t) => {
  for (const origin of ['', 'bank.example\n7', 'bank example', 'a+b', 'x'.repeat(201)])
    t.throws(() => signCheckpoint({ ...head, origin }, key), { instanceOf: CheckpointError }, origin)
})
