import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { CheckpointError } from '../../core/ledger/checkpoint.ts'
import { openKeyRing, readKeyRing, withVouched } from './key-ring.ts'
import { ReceiptKeyError } from './public-key.ts'
import { receiptKeyFile } from './signing-key.ts'

function createFolder(t: ExecutionContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-keys-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

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
