import test from 'ava'
import { eventually } from '../../test/support/eventually.ts'
import { createMemoryReceipts, storedSample, storeIsDown } from '../../test/support/receipts.ts'
import { createRecordingLog } from '../../test/support/recording-log.ts'
import { ReceiptWriter, type ReceiptWriterOptions } from './writer.ts'

function createWriter(options: Partial<ReceiptWriterOptions> = {}) {
  const store = createMemoryReceipts()
  const log = createRecordingLog()
  const writer = new ReceiptWriter({ store, log, pauseMs: 20, ...options })
  const add = (...ids: string[]) => {
    for (const id of ids) writer.add(storedSample(id))
  }
  return { store, log, writer, add, ids: () => store.kept.map(({ id }) => id) }
}

const names = (count: number) => Array.from({ length: count }, (_, index) => `r${index}`)

test('receipt writer: stores each receipt once, in order', async (t) => {
  const { store, log, writer, add, ids } = createWriter()
  add(...names(200))
  await writer.close(1000)
  t.deepEqual(ids(), names(200))
  t.deepEqual(store.kept[0], storedSample('r0'))
  t.deepEqual(log.lines, [])
})

test('receipt writer: a store that is down is asked again, and nothing is lost within the bound', async (t) => {
  const { store, log, writer, add, ids } = createWriter()
  let isDown = true
  store.beforePut = async () => {
    if (isDown) throw storeIsDown()
  }
  add(...names(100))
  await eventually(() => log.lines.length > 1, 'two warnings')
  isDown = false
  await eventually(() => ids().length === 100, 'all are stored')
  t.deepEqual(ids().toSorted(), names(100).toSorted())
  t.true(log.lines.every(({ event, level }) => event === 'receipts.not-stored' && level === 'warn'))
  t.like(log.lines[0]?.fields, { dropped: 0, waiting: 100, reason: 'The database cannot be reached.' })
  await writer.close(1000)
})

test('receipt writer: at most so many wait; the newest are dropped, and counted', async (t) => {
  const { store, log, writer, add, ids } = createWriter({ mostWaiting: 10 })
  const opened = Promise.withResolvers<void>()
  store.beforePut = () => opened.promise
  add(...names(25))
  opened.resolve()
  await writer.close(1000)
  t.deepEqual(ids(), names(10))
  t.is(sum(log.lines, 'dropped'), 15)
})

function sum(lines: readonly { fields: Record<string, unknown> }[], name: string): number {
  return lines.reduce((total, { fields }) => total + Number(fields[name]), 0)
}

test('receipt writer: a warning comes at once, and then once in a while, however much fails', async (t) => {
  const { store, log, writer, add } = createWriter({ pauseMs: 60_000 })
  store.beforePut = () => Promise.reject(new Error('no such table'))
  add(...names(1000))
  await eventually(() => writer.find('mine', 'r999') === undefined, 'all are dropped')
  t.is(log.lines.length, 1)
  await writer.close(1000)
  t.is(log.lines.length, 2)
  t.is(sum(log.lines, 'dropped'), 1000)
  t.is(log.lines[1]?.fields.reason, 'no such table')
})

test('receipt writer: what is refused for good does not hold up the others', async (t) => {
  const { store, log, writer, add, ids } = createWriter()
  store.beforePut = async (receipts) => {
    if (receipts.some(({ id }) => id === 'r1')) throw new Error('a constraint')
  }
  add(...names(3))
  await writer.close(1000)
  t.deepEqual(ids(), ['r0', 'r2'])
  t.like(log.lines[0]?.fields, { dropped: 1, reason: 'a constraint' })
})

test('receipt writer: what waits is found, by its scope alone', async (t) => {
  const { store, writer, add } = createWriter()
  const opened = Promise.withResolvers<void>()
  store.beforePut = () => opened.promise
  add('r1')
  t.like(writer.find('mine', 'r1'), { id: 'r1', signature: { alg: 'Ed25519' } })
  t.is(writer.find('yours', 'r1'), undefined)
  t.is(writer.find('mine', 'r2'), undefined)
  opened.resolve()
  await writer.close(1000)
  t.is(writer.find('mine', 'r1'), undefined)
})

test('receipt writer: the end waits for a store that comes back, and not for one that does not', async (t) => {
  const back = createWriter({ pauseMs: 60_000 })
  let tries = 0
  back.store.beforePut = async () => {
    if (++tries === 1) throw storeIsDown()
  }
  back.add('r1')
  await eventually(() => back.log.lines.length === 1, 'the first try has failed')
  await back.writer.close(5000)
  t.deepEqual(back.ids(), ['r1'])

  const gone = createWriter()
  gone.store.beforePut = () => new Promise(() => {})
  gone.add(...names(70))
  await gone.writer.close(50)
  t.like(gone.log.lines.at(-1)?.fields, { dropped: 70, waiting: 70, reason: 'the gateway stopped' })
})
