import type { ExecutionContext } from 'ava'
import fc from 'fast-check'
import { canonicalJson } from '../../../src/core/json/canonical-json.ts'
import { decode, parseCheckpoint, signCheckpoint, signerOf } from '../../../src/core/ledger/checkpoint.ts'
import { isConsistent } from '../../../src/core/ledger/proofs.ts'
import type { Receipt } from '../../../src/core/telemetry/receipt.ts'
import { createReceiptId, firstReceiptIdAt } from '../../../src/core/telemetry/receipt-id.ts'
import { verifyLedger } from '../../../src/journal/ledger/verify-ledger.ts'
import { scopeHash } from '../../../src/journal/receipts/scope-hash.ts'
import { verifyReceipt } from '../../../src/journal/receipts/verify.ts'
import { createLogContent, createReceiptStore } from '../../../src/stores/sql/receipts/receipt-store.ts'
import { assertLedger } from '../../support/ledger.ts'
import { createReceiptKey, sampleReceipt, signerOfKey, signReceiptV1 } from '../../support/receipts.ts'
import { engines } from './places.ts'

const key = createReceiptKey()
const keys = [key.public]
let made = 0

/** Creates receipts to append, each with an id of its own. */
function receipts(count: number, { scope = 'mine', parts = {} }: { scope?: string; parts?: Partial<Receipt> } = {}) {
  return Array.from({ length: count }, () => {
    const random = Buffer.alloc(10)
    random.writeUInt32BE(++made)
    const id = createReceiptId(made, random)
    return {
      id,
      scope,
      createdAtMs: made,
      json: canonicalJson(
        sampleReceipt({ id, created_at: new Date(made).toISOString(), scope_sha256: scopeHash(id, scope), ...parts }),
      ),
    }
  })
}

for (const engine of engines) {
  engine.test('ledger: each receipt verifies, at every size of the tree, and so does each head', async (t) => {
    const place = await engine.createPlace(t)
    const store = await place.open()
    const ledger = createReceiptStore(store, signerOfKey(key))
    const heads: string[] = []
    for (const count of [1, 1, 2, 12, 1, 16, 64, 1, 64, 64, 64, 30, 1]) {
      await ledger.put(receipts(count))
      heads.push((await ledger.state()).checkpoint ?? '')
    }
    const listed = []
    for (let after: string | undefined; ; after = listed.at(-1)?.id) {
      const page = await ledger.list('mine', { after, limit: 100 })
      if (page.length === 0) break
      listed.push(...page)
    }
    t.deepEqual(
      listed.map(({ proof }) => proof?.leaf_index),
      Array.from({ length: 321 }, (_, i) => i),
    )
    for (const receipt of listed) t.true(verifyReceipt(JSON.stringify(receipt), keys).isValid)
    for (const head of heads) await assertContinued(t, head, ledger)
    for (const index of [0, 15, 16, 255, 256, 320]) {
      const { leaf_hash: _, ...proof } = (await ledger.inclusion(index)) ?? {}
      t.true(verifyReceipt(JSON.stringify({ ...listed[index], proof }), keys).isValid)
    }
    t.is(await ledger.inclusion(321), undefined)
    t.is(await ledger.consistency(322), undefined)
    t.is((await assertLedger(t, store, keys)).leaves, 321)
  })

  engine.test('ledger: several processes append to one, and each receipt is in it once', async (t) => {
    const place = await engine.createPlace(t)
    const stores = await Promise.all([1, 2, 3].map(() => place.open()))
    const append = async (store: (typeof stores)[number], counts: readonly number[]) => {
      for (const count of counts) await createReceiptStore(store, signerOfKey(key)).put(receipts(count))
    }
    await Promise.all(stores.map((store, i) => append(store, [3, 1, 7, 20, 1, 1 + i, 40, 2])))
    const { leaves, heads } = await assertLedger(t, stores[0]!, keys)
    t.is(leaves, 3 * 74 + 1 + 2 + 3)
    t.is(heads, 24)
  })

  engine.test('ledger: a batch that is repeated, as after a lost reply, is there once', async (t) => {
    const place = await engine.createPlace(t)
    const store = await place.open()
    const ledger = createReceiptStore(store, signerOfKey(key))
    const check = async (sizes: readonly number[]) => {
      const before = (await assertLedger(t, store, keys)).leaves
      const all = sizes.map((size) => receipts(size))
      await Promise.all(all.flatMap((batch) => [ledger.put(batch), ledger.put(batch)]))
      t.is((await assertLedger(t, store, keys)).leaves, before + all.flat().length)
    }
    await fc.assert(fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 4 }), check), { numRuns: 8 })
  })

  engine.test('ledger: receipts of version 1 are listed, and verify with their own signature', async (t) => {
    const place = await engine.createPlace(t)
    const store = await place.open()
    const [old] = receipts(1)
    const json = signReceiptV1({ id: old?.id ?? '' }, key)
    await place.sql(
      `insert into receipt (id, scope, created_at_ms, json) values ('${old?.id}', 'mine', 1, '${json.replaceAll("'", "''")}') returning id`,
    )
    const ledger = createReceiptStore(store, signerOfKey(key))
    await ledger.put(receipts(2))
    const found = await ledger.list('mine', { limit: 10 })
    t.deepEqual(
      found.map(({ v }) => v),
      [1, 2, 2],
    )
    for (const receipt of found) t.true(verifyReceipt(JSON.stringify(receipt), keys).isValid)
    t.is((await assertLedger(t, store, keys)).signed, 1)
  })

  engine.test('ledger: receipts that are deleted in time leave their hashes, and no others may go', async (t) => {
    const place = await engine.createPlace(t)
    const store = await place.open()
    const ledger = createReceiptStore(store, signerOfKey(key))
    const all = receipts(40)
    await ledger.put(all)
    const [from, to] = [all[10]?.id ?? '', all[30]?.id ?? '']
    t.is(await store.run('receipt.prune', { beforeId: from }), 10)
    const check = (oldestId: string) =>
      verifyLedger({ content: createLogContent(store), keys, kept: [], oldestId: () => oldestId })
    t.like(await check(from), { isValid: true, leaves: 40, receipts: 30, deleted: 10 })
    t.like(await check(firstReceiptIdAt(0)), { isValid: false, faultCount: 10 })
    const left = await ledger.get('mine', to)
    t.true(verifyReceipt(JSON.stringify(left), keys).isValid)
  })

  engine.test('ledger: a receipt that is deleted in time during the check is no fault', async (t) => {
    const place = await engine.createPlace(t)
    const store = await place.open()
    const all = receipts(3)
    await createReceiptStore(store, signerOfKey(key)).put(all)
    const beforeId = all[1]?.id ?? ''
    let oldest = ''
    const stored = createLogContent(store)
    const content = {
      ...stored,
      async receipts(ids: readonly string[]) {
        oldest = beforeId
        await store.run('receipt.prune', { beforeId })
        return stored.receipts(ids)
      },
    }
    t.like(await verifyLedger({ content, keys, kept: [], oldestId: () => oldest }), { isValid: true, deleted: 1 })
  })

  engine.test('ledger: a row that is no leaf has no proof, and the list has all others', async (t) => {
    const place = await engine.createPlace(t)
    const ledger = createReceiptStore(await place.open(), signerOfKey(key))
    const all = receipts(5)
    await ledger.put(all)
    const places = engine.name === 'sqlite' ? ['1000', '-1', '1.5'] : ['1000', '-1', '7']
    for (const [i, index] of places.entries())
      await place.sql(
        `insert into receipt (id, scope, created_at_ms, json, leaf_index) select 'rcpt_${i}', scope, 1, json, ${index} from receipt where leaf_index = 0 returning id`,
      )
    const listed = await ledger.list('mine', { limit: 100 })
    t.is(listed.filter(({ proof }) => proof === undefined).length, 3)
    const genuine = listed.filter((each) => verifyReceipt(JSON.stringify(each), keys).isValid)
    t.deepEqual(
      genuine.map(({ id }) => id),
      all.map(({ id }) => id),
    )
    await t.throwsAsync(ledger.get('mine', 'rcpt_0'), { code: 'service_unavailable', message: /ledger verify/ })
  })

  engine.test('ledger: the database refuses to change heads', async (t) => {
    const place = await engine.createPlace(t)
    await createReceiptStore(await place.open(), signerOfKey(key)).put(receipts(2))
    for (const text of [
      `update receipt_head set checkpoint = '' returning first_leaf`,
      'delete from receipt_head returning first_leaf',
      `update receipt_log set origin = 'x' returning origin`,
    ])
      await t.throwsAsync(place.sql(text), { message: /append-only/ })
  })

  engine.test('ledger: a head by an unknown key is not continued, one by an earlier key is', async (t) => {
    const place = await engine.createPlace(t)
    const store = await place.open()
    const own = signerOfKey(key)
    await createReceiptStore(store, own).put(receipts(2))
    const other = createReceiptKey()
    await createReceiptStore(await place.open(), signerOfKey(other, [own.raw])).put(receipts(2))
    const refused = { code: 'service_unavailable', message: /signed by an unknown key/ }
    await t.throwsAsync(createReceiptStore(store, own).put(receipts(1)), refused)
    await t.throwsAsync(createReceiptStore(await place.open(), own).put(receipts(1)), refused)
    await createReceiptStore(store, signerOfKey(key, [other.public.raw])).put(receipts(1))
    t.is((await assertLedger(t, store, [key.public, other.public])).leaves, 5)
  })

  engine.test('ledger: no other name is signed', async (t) => {
    const place = await engine.createPlace(t)
    const ledger = createReceiptStore(await place.open(), signerOfKey(key))
    const table = engine.name === 'sqlite' ? '' : ' on receipt_log'
    await place.sql(`drop trigger receipt_log_${engine.name === 'sqlite' ? 'no_update' : 'unchanged'}${table}`)
    const rename = (name: string) => place.sql(`update receipt_log set origin = '${name}' returning origin`)
    const [log] = await place.sql('select origin from receipt_log')
    for (const name of ['bank.example/log', 'bank.example\n9\nAAAA', `${log?.origin}\n`]) {
      await rename(name)
      await t.throwsAsync(ledger.put(receipts(1)), { code: 'service_unavailable', message: /ledger verify/ }, name)
    }
    await rename(String(log?.origin))
    await ledger.put(receipts(1))
    await rename(`turnpike/ledger/${'0'.repeat(20)}`)
    await t.throwsAsync(ledger.put(receipts(1)), { code: 'service_unavailable', message: /ledger verify/ })
  })

  engine.test('ledger: leaves that do not match the latest head get no other head', async (t) => {
    const place = await engine.createPlace(t)
    await createReceiptStore(await place.open(), signerOfKey(key)).put(receipts(3))
    const table = engine.name === 'sqlite' ? '' : ' on receipt_head'
    await place.sql(`drop trigger receipt_head_${engine.name === 'sqlite' ? 'no_update' : 'unchanged'}${table}`)
    const [log] = await place.sql('select origin from receipt_log')
    const other = signCheckpoint({ origin: String(log?.origin), size: 3, root: Buffer.alloc(32) }, signerOfKey(key))
    await place.sql(`update receipt_head set checkpoint = '${other}' returning first_leaf`)
    const another = createReceiptStore(await place.open(), signerOfKey(key))
    await t.throwsAsync(another.put(receipts(1)), { code: 'service_unavailable', message: /ledger verify/ })
  })
}

/** Asserts that the ledger proves that it continues a head. */
async function assertContinued(
  t: ExecutionContext,
  note: string,
  ledger: ReturnType<typeof createReceiptStore>,
): Promise<void> {
  const head = parseCheckpoint(note)
  t.truthy(signerOf(head, keys))
  const { hashes, checkpoint } = (await ledger.consistency(head.size)) ?? { hashes: [], checkpoint: '' }
  const latest = parseCheckpoint(checkpoint)
  t.true(
    isConsistent({
      first: head.size,
      firstRoot: head.root,
      second: latest.size,
      secondRoot: latest.root,
      hashes: hashes.map((hash) => decode(hash)),
    }),
  )
}
