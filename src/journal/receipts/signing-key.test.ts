import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
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
