import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { CheckpointError } from '../../core/ledger/checkpoint.ts'
import { openKeyRing, readKeyRing, withVouched } from './key-ring.ts'
import { ReceiptKeyError } from './public-key.ts'
import { openReceiptKey, readReceiptKey, receiptKeyFile } from './signing-key.ts'

function createFolder(t: ExecutionContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-key-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('receipt key: is created once, readable by its owner only, and read from then on', (t) => {
  const dataDir = path.join(createFolder(t), 'not', 'there')
  const made = openReceiptKey(dataDir)
  t.regex(made.public.id, /^[\w-]{16}$/)
  t.is(statSync(receiptKeyFile(dataDir)).mode & 0o777, 0o600)
  t.is(openReceiptKey(dataDir).public.raw, made.public.raw)
  t.deepEqual(readdirSync(dataDir), ['receipt-key.pem'])
})

test('receipt key: processes that start at once agree on one key', async (t) => {
  const dataDir = createFolder(t)
  const module = path.join(import.meta.dirname, 'signing-key.ts')
  const program = `const { openReceiptKey } = await import(${JSON.stringify(module)}); console.log(openReceiptKey(${JSON.stringify(dataDir)}).public.id)`
  const run = () => promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
  const outputs = await Promise.all(Array.from({ length: 4 }, run))
  const ids = new Set(outputs.map(({ stdout }) => stdout.trim()))
  t.deepEqual([...ids], [openReceiptKey(dataDir).public.id])
  t.deepEqual(readdirSync(dataDir), ['receipt-key.pem'])
})

test('receipt key: a file without a valid key is refused with a message, and stays', (t) => {
  const dataDir = createFolder(t)
  const file = receiptKeyFile(dataDir)
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { publicKey } = generateKeyPairSync('ed25519')
  const wrong = [
    '',
    'hello',
    String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    String(publicKey.export({ type: 'spki', format: 'pem' })),
  ]
  for (const text of wrong) {
    writeFileSync(file, text)
    t.throws(() => openReceiptKey(dataDir), {
      instanceOf: ReceiptKeyError,
      message: /receipt-key\.pem.*not the private Ed25519 key/,
    })
    t.is(readFileSync(file, 'utf8'), text)
  }
})

test('receipt key: a read or write failure has a clear message', (t) => {
  const dataDir = createFolder(t)
  writeFileSync(path.join(dataDir, 'file'), '')
  t.throws(() => openReceiptKey(path.join(dataDir, 'file')), {
    instanceOf: ReceiptKeyError,
    message: /^The receipt key cannot be (read|created): /,
  })
  if (process.getuid?.() === 0) return t.log('root can read everything')
  openReceiptKey(dataDir)
  chmodSync(receiptKeyFile(dataDir), 0)
  t.throws(() => openReceiptKey(dataDir), { instanceOf: ReceiptKeyError, message: /cannot be read: EACCES/ })
})

test('receipt key: a missing file is no error for a reader', (t) => {
  t.is(readReceiptKey(receiptKeyFile(createFolder(t))), undefined)
})

/** Moves the key of a folder aside, as an operator does to rotate it. */
function rotate(folder: string, name: string): string {
  const aside = path.join(folder, `receipt-key.${name}.pem`)
  renameSync(receiptKeyFile(folder), aside)
  return aside
}

test('receipt keys: each earlier one vouches for all, and no other key does', (t) => {
  const folder = createFolder(t)
  t.is(readKeyRing(folder), undefined)
  const first = openKeyRing(folder)
  rotate(folder, 'a')
  const second = openKeyRing(folder)
  rotate(folder, 'b')
  const third = openKeyRing(folder)
  const raws = (keys: readonly { raw: string }[]) => [...new Set(keys.map(({ raw }) => raw))].sort()
  const all = raws([third.own.public, second.own.public, first.own.public])
  t.is(
    third.keys[0],
    third.keys.find(({ raw }) => raw === third.own.public.raw),
  )
  t.deepEqual(raws(third.keys), all)
  t.deepEqual(raws(readKeyRing(folder)?.keys ?? []), all)
  for (const { own } of [first, second, third]) t.deepEqual(raws(withVouched([own.public], third.note)), all)
  const stranger = openKeyRing(createFolder(t)).own.public
  t.deepEqual(withVouched([stranger], third.note), [stranger])
  const forged = third.note.replace(second.own.public.raw, stranger.raw)
  t.deepEqual(withVouched([first.own.public], forged), [first.own.public])
  for (const text of ['', 'x', `${third.note}x`, third.note.replace('turnpike/', 'other/')])
    t.throws(() => withVouched([first.own.public], text), { instanceOf: CheckpointError })
})

test('receipt keys: of an earlier key the public half suffices; it vouches for none', (t) => {
  const folder = createFolder(t)
  const first = openKeyRing(folder)
  writeFileSync(rotate(folder, 'old'), first.own.public.key.export({ type: 'spki', format: 'pem' }))
  const second = openKeyRing(folder)
  t.deepEqual(
    second.keys.map(({ raw }) => raw),
    [second.own.public.raw, first.own.public.raw],
  )
  t.deepEqual(withVouched([first.own.public], second.note), [first.own.public])
})

test('receipt keys: a file of an earlier key without a key is refused by its name', (t) => {
  const folder = createFolder(t)
  openKeyRing(folder)
  writeFileSync(path.join(folder, 'receipt-key.old.pem'), 'no key')
  t.throws(() => openKeyRing(folder), { instanceOf: ReceiptKeyError, message: /receipt-key\.old\.pem/ })
})
