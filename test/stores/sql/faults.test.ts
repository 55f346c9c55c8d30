import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { sqliteFault } from '../../../src/stores/sql/engine/faults.ts'
import { runGroup } from '../../../src/stores/sql/sqlite/group.ts'
import { sqliteFile } from '../../../src/stores/sql/sqlite/location.ts'
import { openDatabase } from '../../../src/stores/sql/sqlite/open.ts'
import { openSqliteStore } from '../../../src/stores/sql/sqlite/store.ts'
import { openSqlStore, type SqlStore } from '../../../src/stores/sql/store.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/ports.ts'
import { createPostgres, isPostgresExpected, query } from '../../support/postgres.ts'
import { toBatch } from '../../support/receipts.ts'
import { createRecordingLog, type RecordingLog } from '../../support/recording-log.ts'
import { soon } from '../../support/short-wait.ts'
import { createSqlitePlace, engines } from './places.ts'

const testWithPostgres = isPostgresExpected ? test : test.skip
const UNAVAILABLE = { code: 'service_unavailable' }
const PATIENCE_MS = 600
const WINDOWS = [{ scope: 's', window: 'd:2026-11-21', limitNanoUsd: 100 }]

function reserve(store: SqlStore, holdId: string): Promise<unknown> {
  return store.run('spend.reserve', { holdId, amountNanoUsd: 1, windows: WINDOWS, leaseMs: 60_000 })
}

/** Resolves once the store is used, for the first time or again. */
function untilUsed(store: SqlStore, holdId: string): Promise<void> {
  return eventually(
    () =>
      reserve(store, holdId).then(
        () => true,
        () => false,
      ),
    'the database is used',
  )
}

/** Asserts a refusal and its reason; that of the store's patience is `did not answer in time`. */
async function assertRefuses(t: ExecutionContext, asking: Promise<unknown>, message: RegExp): Promise<void> {
  await t.throwsAsync(soon(asking, 'a refusal'), { ...UNAVAILABLE, message })
}

test('sqlite: a database that another process has locked is refused in time, and used when it is free', async (t) => {
  const place = await createSqlitePlace(t)
  // The thread's answer is due a share of this before the store gives up: enough for a busy machine.
  const store = await place.open({ patienceMs: 4 * PATIENCE_MS })
  const other = new DatabaseSync(sqliteFile(place.dataDir), { timeout: 5000 })
  t.teardown(() => other.close())
  other.exec('begin immediate')
  await Promise.all([
    assertRefuses(t, reserve(store, 'in-group'), /locked by another process/),
    assertRefuses(t, reserve(store, 'in-queue'), /did not answer in time/),
  ])
  other.exec('rollback')
  await untilUsed(store, 'later')
  const ids = (await place.sql('select id from spend_hold')).map(({ id }) => id)
  t.deepEqual(ids, ['later'], 'what was refused has not happened')
})

test('sqlite: a database that cannot be written to yet is not opened, though its tables are current', async (t) => {
  const place = await createSqlitePlace(t)
  await (await place.open()).close()
  const other = new DatabaseSync(sqliteFile(place.dataDir), { timeout: 5000 })
  t.teardown(() => other.close())
  other.exec('begin immediate')
  const opening = place.open()
  t.is(await Promise.race([opening, sleep(PATIENCE_MS, 'waits')]), 'waits')
  other.exec('rollback')
  await reserve(await opening, 'first')
})

test('sqlite: an answer that came while the event loop was blocked is not late', async (t) => {
  const place = await createSqlitePlace(t)
  const patienceMs = 2000
  const store = await place.open({ patienceMs })
  await sleep(1) // among timers, of which the store's own is due after the block
  const asking = reserve(store, 'meanwhile')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, patienceMs)
  await t.notThrowsAsync(soon(asking, 'the answer'))
})

/** Opens a store whose thread is this program. */
async function storeOn(t: ExecutionContext, program: string, patienceMs: number): Promise<[SqlStore, RecordingLog]> {
  const log = createRecordingLog()
  const source = `import { parentPort } from 'node:worker_threads'\n${program}\nparentPort.postMessage({ kind: 'ready' })`
  const store = await openSqliteStore({
    file: 'unused',
    log,
    clock: { nowMs: () => 0 },
    patienceMs,
    program: new URL(`data:text/javascript,${encodeURIComponent(source)}`),
  })
  t.teardown(() => store.close())
  return [store, log]
}

/** Blocks its thread without using the processor. */
const HANGING = `parentPort.on('message', () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))`

test('sqlite: a thread that hangs is refused in time, and in the end replaced', async (t) => {
  const [store, log] = await storeOn(t, HANGING, 60)
  await assertRefuses(t, reserve(store, 'a'), /did not answer in time/)
  await eventually(() => log.events().includes('store.thread-restarted'), 'the thread is replaced')
  t.true(log.events().includes('store.thread-hangs'))
})

test('sqlite: a thread that dies is refused at once, and replaced', async (t) => {
  const [store, log] = await storeOn(t, `parentPort.on('message', () => process.exit(1))`, 30_000)
  await assertRefuses(t, reserve(store, 'a'), /thread has ended/)
  await assertRefuses(t, reserve(store, 'a'), /being opened again/)
  await eventually(() => log.events().includes('store.thread-restarted'), 'the thread is replaced')
})

test('sqlite: a thread that throws is logged', async (t) => {
  const [store, log] = await storeOn(t, `parentPort.on('message', () => { throw new Error('out of luck') })`, 30_000)
  await assertRefuses(t, reserve(store, 'a'), /thread has ended/)
  t.deepEqual(log.lines[0], { level: 'error', event: 'store.thread-failed', fields: { reason: 'out of luck' } })
})

test('sqlite: commands that wait for the same commit are a group, of 64 at the most', async (t) => {
  const program = `parentPort.on('message', ({ question: { commands } }) => {
    const outcomes = commands.map(() => ({ output: commands.length }))
    parentPort.postMessage({ kind: 'answer', answer: outcomes })
  })`
  const [store] = await storeOn(t, program, 30_000)
  const sizes = await Promise.all(Array.from({ length: 150 }, (_, i) => reserve(store, `${i}`)))
  t.deepEqual([...new Set(sizes)], [1, 64, 21])
})

test('sqlite: a commit is on the disk before it is acknowledged', async (t) => {
  const { dataDir } = await createSqlitePlace(t)
  const { raw, db } = await openDatabase(sqliteFile(dataDir))
  t.teardown(() => db.destroy())
  const FULL = 2
  t.is(raw.prepare('pragma synchronous').get()?.synchronous, FULL)
  t.is(raw.prepare('pragma journal_mode').get()?.journal_mode, 'wal')
})

test('sqlite: commands beyond the queue are refused at once', async (t) => {
  const [store] = await storeOn(t, `parentPort.on('message', () => {})`, PATIENCE_MS)
  const waiting = Array.from({ length: 4097 }, (_, i) => reserve(store, `${i}`))
  for (const each of waiting) each.catch(() => {})
  await t.throwsAsync(reserve(store, 'too many'), { ...UNAVAILABLE, message: /too much to do/ })
  await store.close()
  const results = await Promise.allSettled(waiting)
  t.true(results.every(({ status }) => status === 'rejected'))
})

test('sqlite: a full disk is explained, undoes the group, and is overcome', async (t) => {
  const database = await openDatabase(':memory:')
  t.teardown(() => database.db.destroy())
  const put = (id: string, length: number) =>
    ({ name: 'receipt.put', input: toBatch([{ id, scope: 's', createdAtMs: 1, json: 'x'.repeat(length) }]) }) as const
  const group = { nowMs: 0, deadlineMs: Number.POSITIVE_INFINITY }
  const { page_count: pages } = database.raw.prepare('pragma page_count').get() ?? {}
  database.raw.exec(`pragma max_page_count = ${Number(pages) + 4}`)
  const outcome = await runGroup(database, { ...group, commands: [put('small', 1), put('large', 100_000)] }).catch(
    (error: unknown) => [{}, { fault: sqliteFault(error) }],
  )
  t.like(outcome[1], { fault: { ...UNAVAILABLE, message: 'The database’s disk is full.' } })
  database.raw.exec('pragma max_page_count = 100000')
  const again = await runGroup(database, { ...group, commands: [put('large', 100_000)] })
  t.deepEqual(again, [{ output: undefined }])
})

test('sqlite: a command that fails does not undo its neighbours', async (t) => {
  const place = await createSqlitePlace(t)
  const store = await place.open()
  const bad = store.run('spend.reserve', { holdId: 'bad', amountNanoUsd: 0.5, windows: WINDOWS, leaseMs: 1 })
  const results = await Promise.allSettled([reserve(store, 'a'), reserve(store, 'b'), bad, reserve(store, 'c')])
  t.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'fulfilled'],
  )
  t.deepEqual(
    (await place.sql('select id from spend_hold order by id')).map(({ id }) => id),
    ['a', 'b', 'c'],
  )
})

test('sqlite: of a command alone that fails or is refused nothing is left, and the next one is stored', async (t) => {
  const { dataDir } = await createSqlitePlace(t)
  const database = await openDatabase(sqliteFile(dataDir))
  t.teardown(() => database.db.destroy())
  const [window] = WINDOWS
  const full = { scope: 's', window: 'm:2026-11', limitNanoUsd: 0 }
  const runReserve = async (holdId: string, amountNanoUsd: number, windows: readonly object[]) => {
    const input = { holdId, amountNanoUsd, windows, leaseMs: 60_000 }
    const group = {
      commands: [{ name: 'spend.reserve' as const, input }],
      nowMs: 0,
      deadlineMs: Number.POSITIVE_INFINITY,
    }
    return (await runGroup(database, group))[0]
  }
  const countOf = (table: string) => database.raw.prepare(`select count(*) as rows from ${table}`).get()?.rows
  t.like(await runReserve('failed', 0.5, [window!]), { fault: { code: 'internal_error' } })
  t.like(await runReserve('refused', 1, [window!, full]), { output: { ok: false } })
  t.deepEqual([countOf('spend_hold'), countOf('spend_window')], [0, 0])
  t.false(database.raw.isTransaction)
  t.like(await runReserve('fits', 1, [window!]), { output: { ok: true } })
  t.deepEqual([countOf('spend_hold'), countOf('spend_window')], [1, 1])
})

test('sqlite: a file that is no database is explained', async (t) => {
  const place = await createSqlitePlace(t)
  writeFileSync(sqliteFile(place.dataDir), 'This is no database. '.repeat(1000))
  await t.throwsAsync(place.open(), { ...UNAVAILABLE, message: /is not a database/ })
})

test('sqlite: a database that is damaged while it is used is explained', async (t) => {
  const place = await createSqlitePlace(t)
  const first = await place.open()
  await first.run('receipt.put', toBatch([{ id: 'r', scope: 's', createdAtMs: 1, json: 'x'.repeat(200_000) }]))
  await first.close()
  const store = await place.open()
  writeFileSync(sqliteFile(place.dataDir), Buffer.alloc(300_000, 0xff))
  await t.throwsAsync(store.run('receipt.get', { id: 'r', scope: 's' }), {
    ...UNAVAILABLE,
    message: /Restore a backup/,
  })
})

test('sqlite: a path that is no file is explained', async (t) => {
  const place = await createSqlitePlace(t)
  mkdirSync(sqliteFile(place.dataDir))
  await t.throwsAsync(place.open(), { ...UNAVAILABLE, message: /cannot be opened/ })
})

test('sqlite: a backup made under load is whole', async (t) => {
  const place = await createSqlitePlace(t)
  const store = await place.open()
  await Promise.all(Array.from({ length: 200 }, (_, i) => reserve(store, `before-${i}`)))
  const target = path.join(place.dataDir, 'copies', 'copy.db')
  let isDone = false
  const backup = store.backup(target).finally(() => {
    isDone = true
  })
  let asked = 0
  while (!isDone) await reserve(store, `during-${asked++}`)
  await backup
  const copy = new DatabaseSync(target, { readOnly: true })
  t.teardown(() => copy.close())
  t.is(copy.prepare('pragma integrity_check').get()?.integrity_check, 'ok')
  const held = copy.prepare('select held_nano_usd from spend_window').get()?.held_nano_usd
  t.is(held, copy.prepare('select count(*) as count from spend_hold').get()?.count)
  t.false(existsSync(`${target}.unfinished`))
  t.is(statSync(target).mode & 0o077, 0, 'no other user may read it')
  await t.throwsAsync(store.backup(target), { code: 'invalid_request', message: /exists\. Name a new file/ })
})

for (const engine of engines) {
  engine.test('a closed store refuses, after the commands before', async (t) => {
    const store = await (await engine.createPlace(t)).open()
    const asked = [reserve(store, 'a'), reserve(store, 'b')]
    await store.close()
    t.like(await Promise.all(asked), [{ ok: true }, { ok: true }])
    await t.throwsAsync(reserve(store, 'c'), { ...UNAVAILABLE, message: /is closed/ })
  })
}

testWithPostgres('postgres: a backup is made by other tools', async (t) => {
  const store = (await engines[1]?.shared())?.store
  await t.throwsAsync(async () => store?.backup('copy.db'), { code: 'invalid_request', message: /`pg_dump`/ })
})

/** Servers of their own: faults on them must not reach other tests. */
testWithPostgres('postgres: a server that hangs is refused in time, and used when it resumes', async (t) => {
  const server = await createPostgres(t)
  const databaseUrl = await server.createDatabase()
  const log = createRecordingLog()
  const options = { databaseUrl, dataDir: '', log, clock: { nowMs: () => 0 }, patienceMs: PATIENCE_MS }
  const store = await openSqlStore(options)
  t.teardown(() => store.close())
  await untilUsed(store, 'before')
  server.freeze()
  const many = Array.from({ length: 30 }, (_, i) => reserve(store, `during-${i}`))
  await Promise.all(many.map((asking) => assertRefuses(t, asking, /cannot be reached|in time/)))
  server.thaw()
  await untilUsed(store, 'after')
  const held = await query(databaseUrl, 'select id from spend_hold order by id')
  t.deepEqual(held, [{ id: 'after' }, { id: 'before' }], 'what was refused has not happened')
})

testWithPostgres('postgres: a server that dies is refused at once, and used when it is back', async (t) => {
  const server = await createPostgres(t)
  const databaseUrl = await server.createDatabase()
  const log = createRecordingLog()
  const store = await openSqlStore({ databaseUrl, dataDir: '', log, clock: { nowMs: () => 0 } })
  t.teardown(() => store.close())
  await untilUsed(store, 'before')
  const asking = Promise.allSettled(Array.from({ length: 50 }, (_, i) => reserve(store, `during-${i}`)))
  await server.kill()
  const refused = (await soon(asking, 'answers and refusals')).filter(({ status }) => status === 'rejected')
  for (const each of refused) t.is(each.status === 'rejected' && each.reason.code, 'service_unavailable')
  await assertRefuses(t, reserve(store, 'x'), /cannot be reached|starting or stopping/)
  await server.start()
  await untilUsed(store, 'back')
})

test('postgres: a missing server is explained at the start', async (t) => {
  const databaseUrl = `postgresql://127.0.0.1:${await freePort()}/none`
  const options = { databaseUrl, dataDir: '', log: createRecordingLog(), clock: { nowMs: () => 0 } }
  await t.throwsAsync(openSqlStore(options), { ...UNAVAILABLE, message: /cannot be reached/ })
})
