import { readFile } from 'node:fs/promises'
import test from 'ava'

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
