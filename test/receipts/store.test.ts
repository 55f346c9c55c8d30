import fc from 'fast-check'
import type { SignedReceipt, StoredReceipt } from '../../src/core/telemetry/receipt.ts'
import { createReceiptStore } from '../../src/stores/sql/receipts/receipt-store.ts'
import { engines } from '../stores/sql/places.ts'
import { createReceiptKey, sampleReceipt, signerOfKey } from '../support/receipts.ts'

const key = signerOfKey(createReceiptKey())

function receipt(id: string, atMs: number): SignedReceipt {
  const created_at = new Date(atMs).toISOString()
  return sampleReceipt({ id, created_at })
}

function stored(scope: string, receipt: SignedReceipt): StoredReceipt {
  return { id: receipt.id, scope, createdAtMs: Date.parse(receipt.created_at), json: JSON.stringify(receipt) }
}

for (const engine of engines) {
  engine.test('receipt store: gives a receipt back as it was, to its scope alone', async (t) => {
    const store = createReceiptStore(await (await engine.createPlace(t)).open(), key)
    const put = receipt('rcpt_1', 1000)
    await store.put([stored('mine', put)])
    await store.put([stored('mine', { ...put, status: 500 })])
    const { proof, ...found } = (await store.get('mine', 'rcpt_1')) ?? {}
    t.deepEqual(found, put)
    t.is(proof?.leaf_index, 0)
    t.is(await store.get('yours', 'rcpt_1'), undefined)
  })

  engine.test('receipt store: page by page, each of the scope comes once, oldest first', async (t) => {
    const store = createReceiptStore(await (await engine.createPlace(t)).open(), key)
    let lists = 0
    const moments = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 20 })
    const check = async (times: readonly number[], limit: number) => {
      const scope = `scope-${++lists}`
      const put = times.map((atMs, i) => receipt(`rcpt_${lists}_${String(i).padStart(2, '0')}`, atMs))
      await store.put(put.map((each) => stored(scope, each)))
      await store.put([stored('other', receipt(`rcpt_other_${lists}`, 3))])
      const listed: SignedReceipt[] = []
      for (;;) {
        const page = await store.list(scope, { after: listed.at(-1)?.id, limit })
        t.true(page.length <= limit)
        if (page.length === 0) break
        listed.push(...page)
      }
      const oldestFirst = put.toSorted((a, b) => (a.created_at + a.id < b.created_at + b.id ? -1 : 1))
      t.deepEqual(
        listed.map(({ id }) => id),
        oldestFirst.map(({ id }) => id),
      )
    }
    await fc.assert(fc.asyncProperty(moments, fc.integer({ min: 1, max: 9 }), check), { numRuns: 12 })
  })

  engine.test('receipt store: an unknown receipt is no place in a list', async (t) => {
    const store = createReceiptStore(await (await engine.createPlace(t)).open(), key)
    await store.put([stored('yours', receipt('rcpt_1', 1))])
    const error = await t.throwsAsync(store.list('mine', { after: 'rcpt_1', limit: 1 }))
    t.like(error, { code: 'invalid_request' })
  })
}
