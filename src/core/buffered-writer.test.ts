import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { eventually } from '../../test/support/eventually.ts'
import { createRecordingLog } from '../../test/support/recording-log.ts'
import { BufferedWriter, type BufferedWriterOptions } from './buffered-writer.ts'
import { GatewayError } from './errors.ts'

const isDown = () => new GatewayError('service_unavailable', 'The database’s disk is full.')
const A_LONG_TIME_MS = 3_600_000

/** Opens a writer of numbers whose batches are kept; `before` may refuse one. */
function open(
  t: ExecutionContext,
  {
    before = async () => {},
    ...options
  }: Partial<BufferedWriterOptions<number>> & { before?: (rows: readonly number[]) => Promise<void> } = {},
) {
  const log = createRecordingLog()
  const batches: (readonly number[])[] = []
  let calls = 0
  const writer = new BufferedWriter<number>({
    put: async (rows) => {
      calls++
      await before(rows)
      batches.push(rows)
    },
    log,
    event: 'rows.not-stored',
    mostAtOnce: 500,
    momentMs: 1,
    pauseMs: 1,
    longestPauseMs: 4,
    warnEveryMs: A_LONG_TIME_MS,
    retriesAtEnd: false,
    ...options,
  })
  t.teardown(() => writer.close(0))
  const add = (from: number, to: number) => {
    for (let i = from; i < to; i++) writer.add(i)
  }
  const dropped = () => log.lines.reduce((sum, { fields }) => sum + Number(fields.dropped), 0)
  return { writer, log, batches, add, dropped, calls: () => calls }
}

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i)

const nextTurn = () => new Promise(setImmediate)

/** Rejects the first calls. */
function failing(calls: number): () => Promise<void> {
  let left = calls
  return async () => {
    if (left-- > 0) throw isDown()
  }
}

test('buffered writer: rows of one moment are one batch', async (t) => {
  const { batches, add } = open(t, { momentMs: 20 })
  add(0, 30)
  t.deepEqual(batches, [])
  await eventually(() => batches.length > 0, 'a batch')
  t.deepEqual(batches, [upTo(30)])
})

test('buffered writer: a full batch does not wait, and none is larger', async (t) => {
  const { writer, batches, add } = open(t, { momentMs: A_LONG_TIME_MS })
  add(0, 1200)
  await eventually(() => batches.length === 2, 'two full batches')
  await writer.close(10_000)
  t.deepEqual(
    batches.map(({ length }) => length),
    [500, 500, 200],
  )
  t.deepEqual(batches.flat(), upTo(1200))
})

test('buffered writer: one batch is in flight at a time', async (t) => {
  let running = 0
  let most = 0
  const before = async () => {
    most = Math.max(most, ++running)
    await new Promise(setImmediate)
    running--
  }
  const { batches, add } = open(t, { before })
  add(0, 2600)
  await eventually(() => batches.flat().length === 2600, 'all are stored')
  t.is(most, 1)
})

test('buffered writer: writes to a database that is down are retried, and nothing is lost within the bound', async (t) => {
  const { batches, add, log, calls } = open(t, { before: failing(3) })
  add(0, 700)
  await eventually(() => batches.flat().length === 700, 'all are stored')
  t.deepEqual(batches.flat(), upTo(700))
  t.true(calls() >= 5)
  const fields = { dropped: 0, waiting: 700, reason: 'The database’s disk is full.' }
  t.deepEqual(log.lines, [{ level: 'warn', event: 'rows.not-stored', fields }], 'one warning within `warnEveryMs`')
})

test('buffered writer: rows beyond the bound are dropped, the newest first, and counted', async (t) => {
  const { writer, batches, add, dropped } = open(t, { mostWaiting: 100, momentMs: A_LONG_TIME_MS })
  add(0, 130)
  await writer.close(10_000)
  t.deepEqual(batches.flat(), upTo(100))
  t.is(dropped(), 30)
})

test('buffered writer: a row that is refused for good does not take others along', async (t) => {
  const before = async (rows: readonly number[]) => {
    if (rows.includes(1)) throw new Error('a constraint')
  }
  const { writer, batches, add, log, dropped } = open(t, { before, momentMs: A_LONG_TIME_MS })
  add(0, 3)
  await writer.close(10_000)
  t.deepEqual(batches.flat(), [0, 2])
  t.is(dropped(), 1)
  t.is(log.lines[0]?.fields.reason, 'a constraint')
})

test('buffered writer: a database that goes down among single rows keeps the rest', async (t) => {
  let calls = 0
  const before = async () => {
    calls++
    if (calls === 1) throw new Error('a constraint')
    if (calls === 3) throw isDown()
  }
  const { batches, add, dropped } = open(t, { before })
  add(0, 4)
  await eventually(() => batches.flat().length === 4, 'all are stored')
  t.deepEqual(batches.flat(), upTo(4))
  t.is(dropped(), 0)
})

test('buffered writer: after a failure is over, full batches go out at once again, and close stores all', async (t) => {
  const { writer, batches, add, dropped } = open(t, { before: failing(1), momentMs: A_LONG_TIME_MS, pauseMs: 1 })
  add(0, 500)
  await eventually(() => batches.length === 1, 'the database is back')
  add(500, 1700)
  await eventually(() => batches.length === 3, 'two full batches')
  await writer.close(A_LONG_TIME_MS)
  t.deepEqual(batches.flat(), upTo(1700))
  t.is(dropped(), 0)
})

test('buffered writer: with retries, close waits for a database that comes back', async (t) => {
  const back = open(t, { before: failing(3), retriesAtEnd: true, momentMs: A_LONG_TIME_MS })
  back.add(0, 10)
  await back.writer.close(A_LONG_TIME_MS)
  t.deepEqual(back.batches, [upTo(10)])
  t.is(back.dropped(), 0)
})

test('buffered writer: close waits neither for one that stays down nor for one that hangs', async (t) => {
  const down = open(t, { before: () => Promise.reject(isDown()), momentMs: A_LONG_TIME_MS })
  down.add(0, 10)
  await down.writer.close(A_LONG_TIME_MS)
  t.is(down.dropped(), 10)
  const hanging = open(t, { before: () => new Promise(() => {}), retriesAtEnd: true, momentMs: A_LONG_TIME_MS })
  hanging.add(0, 10)
  await hanging.writer.close(20)
  t.like(hanging.log.lines.at(-1)?.fields, { dropped: 10, waiting: 10, reason: 'the gateway stopped' })
  hanging.add(10, 11)
  t.is(hanging.dropped(), 11, 'what comes late is counted too')
})

test('buffered writer: a flush stores what waits without a delay, and no later rows', async (t) => {
  const { writer, batches, add } = open(t, { momentMs: A_LONG_TIME_MS, mostAtOnce: 10 })
  add(0, 5)
  const flushed = writer.flush(A_LONG_TIME_MS)
  add(5, 8)
  t.true(await flushed)
  t.deepEqual(batches, [upTo(5)])
  await writer.flush(A_LONG_TIME_MS)
  t.deepEqual(batches.flat(), upTo(8))
  await writer.flush(A_LONG_TIME_MS)
  t.is(batches.length, 2)
})

test('buffered writer: a flush ends when the database fails, and its rows wait on', async (t) => {
  const { writer, batches, add, calls } = open(t, {
    momentMs: A_LONG_TIME_MS,
    pauseMs: 20,
    longestPauseMs: 20,
    before: failing(1),
  })
  add(0, 3)
  t.deepEqual(await Promise.all([writer.flush(A_LONG_TIME_MS), writer.flush(A_LONG_TIME_MS)]), [false, false])
  t.deepEqual([calls(), writer.waiting.length], [1, 3])
  t.false(await writer.flush(A_LONG_TIME_MS))
  t.is(calls(), 1, 'the pause after a failure is kept')
  await eventually(() => batches.length > 0, 'the next try')
  t.deepEqual(batches, [upTo(3)])
})

test('buffered writer: a flush up to one row waits for its batch alone, and for no longer than its time-out', async (t) => {
  const hanging = Promise.withResolvers<void>()
  const before = (rows: readonly number[]) => (rows.includes(10) ? hanging.promise : Promise.resolve())
  const { writer, batches, add } = open(t, { before, momentMs: A_LONG_TIME_MS, mostAtOnce: 10 })
  add(0, 30)
  t.true(await writer.flush(A_LONG_TIME_MS, 5))
  t.deepEqual(batches, [upTo(10)])
  t.false(await writer.flush(20, 15))
  t.is(writer.waiting.length, 20)
  hanging.resolve()
  t.true(await writer.flush(A_LONG_TIME_MS))
  t.deepEqual(batches.flat(), upTo(30))
})

test('buffered writer: a close during a flush starts no second write of its batch', async (t) => {
  const { writer, batches, add, dropped } = open(t, { before: async () => void (await nextTurn()), mostAtOnce: 64 })
  add(0, 640)
  await Promise.all([writer.flush(A_LONG_TIME_MS), writer.close(A_LONG_TIME_MS)])
  t.deepEqual(batches.flat(), upTo(640))
  t.is(dropped(), 0)
})

test('buffered writer: rows that are refused after close has ended are counted once', async (t) => {
  const hanging = Promise.withResolvers<void>()
  const { writer, add, dropped } = open(t, { before: () => hanging.promise, momentMs: A_LONG_TIME_MS })
  add(0, 10)
  await writer.close(1)
  hanging.reject(new Error('a constraint'))
  await nextTurn()
  t.is(dropped(), 10)
})

test('buffered writer: closed again while it closes, it counts no row that it stores', async (t) => {
  for (let turns = 0; turns < 6; turns++) {
    const order = [['down', 2] as const, ['stored', 2] as const, ['stored', 2] as const]
    const { writer, batches, add, dropped } = open(t, { before: replying(order), momentMs: A_LONG_TIME_MS })
    add(0, 1)
    const closing = [writer.close(A_LONG_TIME_MS)]
    for (let turn = 0; turn < turns; turn++) await nextTurn()
    closing.push(writer.close(A_LONG_TIME_MS))
    await Promise.all(closing)
    for (let turn = 0; turn < 6; turn++) await nextTurn()
    t.is(batches.flat().length + dropped(), 1, `closed again after ${turns} turns`)
  }
})

type Step = { readonly kind: 'add'; readonly count: number } | { readonly kind: 'flush' | 'wait' | 'close' }
type Reply = 'stored' | 'refused' | 'down'

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), count: fc.integer({ min: 1, max: 25 }) }),
  fc.record({ kind: fc.constantFrom('flush' as const, 'wait' as const) }),
  { weight: 1, arbitrary: fc.constant({ kind: 'close' as const }) },
)
const replies = fc.array(fc.tuple(fc.constantFrom<Reply>('stored', 'refused', 'down'), fc.integer({ min: 0, max: 3 })))

/** Replies in this order, each after a number of turns of the event loop; at the end, all is stored. Row 7 is never stored. */
function replying(order: readonly (readonly [Reply, number])[]) {
  const left = [...order]
  return async (rows: readonly number[]) => {
    const [reply, turns] = left.shift() ?? ['stored', 1]
    for (let i = 0; i < turns; i++) await nextTurn()
    if (reply === 'down') throw isDown()
    if (reply === 'refused' || rows.includes(7)) throw new Error('a constraint')
  }
}

test('buffered writer: each row is stored once or counted as dropped, in any order of adds, flushes, failures and closes', async (t) => {
  const property = async (
    steps: readonly Step[],
    order: readonly (readonly [Reply, number])[],
    retriesAtEnd: boolean,
  ) => {
    const { writer, batches, add, dropped } = open(t, {
      before: replying(order),
      mostAtOnce: 10,
      mostWaiting: 60,
      momentMs: A_LONG_TIME_MS,
      retriesAtEnd,
    })
    let added = 0
    const work: Promise<unknown>[] = []
    for (const { kind, ...rest } of [...steps, { kind: 'close' as const }]) {
      if ('count' in rest) {
        add(added, added + rest.count)
        added += rest.count
      } else if (kind === 'flush') work.push(writer.flush(A_LONG_TIME_MS))
      else if (kind === 'close') work.push(writer.close(A_LONG_TIME_MS))
      else await nextTurn()
    }
    await Promise.all(work)
    const stored = batches.flat()
    t.is(new Set(stored).size, stored.length, 'no row is stored twice')
    t.is(stored.length + dropped(), added)
    t.deepEqual(writer.waiting, [])
  }
  await t.notThrowsAsync(fc.assert(fc.asyncProperty(fc.array(step), replies, fc.boolean(), property)))
})
