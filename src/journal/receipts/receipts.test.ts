import test from 'ava'
import { openExchange } from '../../../test/support/exchange.ts'
import { createReceiptKey } from '../../../test/support/receipts.ts'
import { createRecordingLog } from '../../../test/support/recording-log.ts'
import { GatewayError } from '../../core/errors.ts'
import type { SignedReceipt, StoredReceipt } from '../../core/telemetry/receipt.ts'
import { Journal } from '../journal.ts'
import { createKeyRing } from './key-ring.ts'
import { createReceipts } from './receipts.ts'

const BODY = '{"model":"claude-x","max_tokens":5,"messages":[{"role":"user","content":"a question"}]}'
const down = new GatewayError('service_unavailable', 'The database cannot be reached.')

/** Opens receipts on a database that can be down. */
function open() {
  const stored = new Map<string, StoredReceipt>()
  const beforePut = async (): Promise<void> => {}
  const database = { isDown: false, nowMs: Date.now(), beforePut, gets: 0 }
  const whileUp = async <Result>(work: () => Result): Promise<Result> => {
    if (database.isDown) throw down
    return work()
  }
  const store = {
    put: async (batch: readonly StoredReceipt[]) => {
      await database.beforePut()
      await whileUp(() => {
        for (const receipt of batch) stored.set(receipt.id, receipt)
      })
    },
    // Safe: the test reads the id only.
    get: (scope: string, id: string) => {
      database.gets++
      return whileUp(() => (stored.get(id)?.scope === scope ? ({ id } as SignedReceipt) : undefined))
    },
    list: async () => [],
    state: () =>
      whileUp(() => {
        return { origin: 'ledger', createdAtMs: 0, checkpoint: undefined }
      }),
    inclusion: async () => undefined,
    consistency: async () => undefined,
  }
  const pricer = { price: () => ({ costNanoUsd: 0, source: 'catalogue' as const, matched: undefined }) }
  const clock = { nowMs: () => database.nowMs }
  const log = createRecordingLog()
  const receipts = createReceipts({
    keys: createKeyRing(createReceiptKey(), []),
    store,
    journal: new Journal(log),
    pricer,
    tokens: undefined,
    clock,
    log,
  })
  const begin = (body = BODY): { scope: string; id: string } => {
    const { id, admittedAtMs } = receipts.open()
    const exchange = openExchange({ body, dialect: 'messages' })
    const latency = { totalMs: 1, gatewayMs: 1, providerMs: undefined }
    const reply = { status: 200, isDelivered: true, replySha256: 'f'.repeat(64), replyBytes: 2 }
    receipts.record({ id, exchange, pipeline: 'none', ...reply, latency, admittedAtMs, repliedAtMs: admittedAtMs })
    return { scope: exchange.caller.scope, id }
  }
  const record = async () => {
    const recorded = begin()
    await new Promise(setImmediate)
    return recorded
  }
  return { receipts, begin, record, database, stored }
}

test('receipts: one that waits is stored when it is requested', async (t) => {
  const { receipts, record, stored } = open()
  const { scope, id } = await record()
  t.is(stored.size, 0, 'it waits for others')
  t.is((await receipts.find(scope, id))?.id, id)
  await receipts.close(100)
})

test('receipts: one that has just been recorded is stored by the first look for it', async (t) => {
  const { receipts, begin, database } = open()
  const { scope, id } = begin()
  t.is((await receipts.find(scope, id))?.id, id)
  t.is(database.gets, 1)
  await receipts.close(100)
})

test('receipts: one that waits is another scope’s secret, and unavailable while the database is down', async (t) => {
  const { receipts, record, database } = open()
  database.isDown = true
  const { scope, id } = await record()
  await t.throwsAsync(receipts.find(scope, id), { code: 'service_unavailable', message: /not in the ledger yet/ })
  database.isDown = false
  t.is(await receipts.find('another', id), undefined)
  await receipts.close(5000)
  t.is((await receipts.find(scope, id))?.id, id)
})

test('receipts: the first of many that wait is found once its own batch is stored', async (t) => {
  const { receipts, record, database, stored } = open()
  const [first, others] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let puts = 0
  database.beforePut = () => (puts++ === 0 ? first.promise : others.promise)
  const recorded = await Promise.all(Array.from({ length: 600 }, record))
  const { scope, id } = recorded[0] ?? { scope: '', id: '' }
  const found = receipts.find(scope, id)
  first.resolve()
  t.is((await found)?.id, id)
  t.is(stored.size, 256)
  others.resolve()
  await receipts.close(5000)
  t.is(stored.size, 600)
})

test('receipts: one that is not stored in time is unavailable, and found later', async (t) => {
  const { receipts, record, database } = open()
  const hanging = Promise.withResolvers<void>()
  database.beforePut = () => hanging.promise
  const { scope, id } = await record()
  await t.throwsAsync(receipts.find(scope, id), { code: 'service_unavailable', message: /not in the ledger yet/ })
  hanging.resolve()
  t.is((await receipts.find(scope, id))?.id, id)
  await receipts.close(5000)
})

test('receipts: one that is still being built when it is requested is unavailable, not unknown', async (t) => {
  const { receipts, begin, database } = open()
  const hanging = Promise.withResolvers<void>()
  database.beforePut = () => hanging.promise
  const { scope, id } = begin(BODY.replace('a question', 'a long question '.repeat(20_000)))
  await t.throwsAsync(receipts.find(scope, id), { code: 'service_unavailable' })
  hanging.resolve()
  await receipts.close(5000)
})
