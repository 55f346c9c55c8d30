import { mkdirSync, writeFileSync } from 'node:fs'
import test, { type ExecutionContext } from 'ava'
import { GatewayError } from '../../src/core/errors.ts'
import { sqliteFault, toError } from '../../src/stores/sql/engine/faults.ts'
import { type Outcome, runGroup } from '../../src/stores/sql/sqlite/group.ts'
import { telemetryFile } from '../../src/stores/sql/sqlite/location.ts'
import { type OpenDatabase, openDatabase } from '../../src/stores/sql/sqlite/open.ts'
import type { SqlStore } from '../../src/stores/sql/store.ts'
import { createTelemetry } from '../../src/stores/sql/telemetry/telemetry.ts'
import { linesOf } from '../support/door.ts'
import { eventually } from '../support/eventually.ts'
import { type Gateway, type Start, startGateway } from '../support/gateway.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { ask, send } from '../support/http-client.ts'
import { createPluginDirectory } from '../support/plugin-folders.ts'
import { createRecordingLog } from '../support/recording-log.ts'
import { startProvider } from '../support/stand-in-provider.ts'
import { rowsOf, sampleRequest } from '../support/telemetry.ts'

const provider = await startProvider()
test.after.always(() => provider.close())

async function open<Started extends Gateway>(
  t: ExecutionContext,
  start: Start<Started>,
  spoil: (file: string) => void = () => {},
) {
  const { path: dataDir } = createPluginDirectory(t)
  spoil(telemetryFile(dataDir))
  const env = {
    SVC_DATA_DIR: dataDir,
    SVC_PIPELINE: 'none',
    ANTHROPIC_BASE_URL: provider.url,
    ANTHROPIC_API_KEY: 'sk-ant-x',
  }
  const gateway = await start(env)
  t.teardown(() => gateway.stop())
  return { gateway, dataDir, ask: (prompt: string) => send(gateway.url, { body: ask(prompt) }) }
}

const SPOILT = {
  'is no database': [(file: string) => writeFileSync(file, 'x'.repeat(10_000)), /not a database, or is damaged/],
  'is a folder': [(file: string) => mkdirSync(file), /cannot be opened/],
} as const

for (const [title, [spoil, words]] of Object.entries(SPOILT)) {
  test(`telemetry: a file that ${title} is explained, and requests are answered without it`, async (t) => {
    const { gateway, ask } = await open(t, startGateway, spoil)
    const replies = await Promise.all(Array.from({ length: 20 }, (_, i) => ask(`hi ${i}`)))
    t.true(replies.every(({ status, headers }) => status === 200 && 'x-svc-receipt' in headers))
    const line = (event: string) => linesOf(gateway).find(({ msg }) => msg === event)
    await eventually(() => line('telemetry.not-stored') !== undefined, 'the fault is logged')
    t.regex(String(line('telemetry.failed')?.reason), words)
    t.regex(String(line('telemetry.not-stored')?.reason), words)
    t.like(await gateway.stop(), { code: 0 })
    t.is(linesOf(gateway).findLast(({ msg }) => msg === 'telemetry.not-stored')?.dropped, 20)
  })
}

test('telemetry: a crash loses at most unflushed rows, and sums still fit the rows', async (t) => {
  const { gateway, dataDir, ask } = await open(t, (env) => startGatewayProcess(env))
  for (let i = 0; i < 25; i++) await ask(`before ${i}`)
  await eventually(async () => (await rowsOf(dataDir)).length === 25, 'rows are flushed')
  const during = Promise.allSettled(Array.from({ length: 40 }, (_, i) => ask(`during ${i}`)))
  await ask('the last')
  process.kill(gateway.pid, 'SIGKILL')
  await gateway.exited
  await during
  const rows = await rowsOf(dataDir)
  t.true(rows.length >= 25, `${rows.length} rows`)
  t.deepEqual(await rowsOf(dataDir, 'pragma integrity_check'), [{ integrity_check: 'ok' }])
  t.deepEqual(await rowsOf(dataDir, 'select sum(requests) as requests from usage_hour'), [{ requests: rows.length }])
})

/** Opens a store on a database of this thread, which can be filled up. */
function storeOn(database: OpenDatabase): Pick<SqlStore, 'run' | 'close'> {
  const group = { nowMs: 0, deadlineMs: Number.POSITIVE_INFINITY }
  const run = async (name: never, input: unknown): Promise<unknown> => {
    // As the thread does: SQLite itself may end the whole transaction.
    const [outcome] = (await runGroup(database, { ...group, commands: [{ name, input }] }).catch((error: unknown) => [
      { fault: sqliteFault(error) },
    ])) as [Outcome]
    if ('fault' in outcome) throw toError(outcome.fault)
    return outcome.output
  }
  // Safe: the same commands run, without a thread between.
  return { run: run as SqlStore['run'], close: () => database.db.destroy() }
}

test('telemetry: a full disk is logged, and queued rows are stored when there is room again', async (t) => {
  const database = await openDatabase(':memory:', 'telemetry')
  const log = createRecordingLog()
  const store = storeOn(database)
  const telemetry = createTelemetry({ open: async () => store, log, momentMs: 1, pauseMs: 1 })
  t.teardown(() => telemetry.close(0))
  const { page_count: pages } = database.raw.prepare('pragma page_count').get() ?? {}
  database.raw.exec(`pragma max_page_count = ${pages}`)
  const many = Array.from({ length: 300 }, () => sampleRequest({ scope: 'full' }))
  for (const request of many) telemetry.record(request)
  await eventually(() => log.events().includes('telemetry.not-stored'), 'the fault is logged')
  t.like(log.lines[0], { fields: { dropped: 0, reason: 'The database’s disk is full.' } })
  database.raw.exec('pragma max_page_count = 100000')
  const range = { fromMs: many[0]!.startedAtMs, toMs: many[0]!.startedAtMs + 1, stepMs: 3_600_000 }
  await eventually(async () => (await telemetry.usage('full', range))[0]?.requests === 300, 'what waited is stored')
})

test('telemetry: a read stores the rows that wait, and includes them', async (t) => {
  const store = storeOn(await openDatabase(':memory:', 'telemetry'))
  const telemetry = createTelemetry({ open: async () => store, log: createRecordingLog(), momentMs: 2 ** 30 })
  t.teardown(() => telemetry.close(0))
  const request = sampleRequest()
  telemetry.record(request)
  t.is((await telemetry.find('mine', request.id))?.id, request.id)
  telemetry.record(sampleRequest())
  t.is((await telemetry.list('mine', { limit: 5 })).length, 2)
})

test('telemetry: a database that cannot be opened is tried again', async (t) => {
  const database = await openDatabase(':memory:', 'telemetry')
  const log = createRecordingLog()
  let tries = 0
  const telemetry = createTelemetry({
    open: async () => {
      if (++tries < 3) throw new GatewayError('internal_error', 'The database was made by a newer version.')
      return storeOn(database)
    },
    log,
    momentMs: 1,
    pauseMs: 1,
  })
  t.teardown(() => telemetry.close(0))
  const request = sampleRequest()
  telemetry.record(request)
  await eventually(
    () =>
      telemetry.list('mine', { limit: 1 }).then(
        ({ length }) => length === 1,
        () => false,
      ),
    'it is there',
  )
  t.deepEqual(log.lines[0], {
    level: 'warn',
    event: 'telemetry.failed',
    fields: { reason: 'The database was made by a newer version.' },
  })
})

test('sqlite: telemetry does not wait for the disk, and is sound all the same', async (t) => {
  const { path: dataDir } = createPluginDirectory(t)
  const { raw, db } = await openDatabase(telemetryFile(dataDir), 'telemetry')
  t.teardown(() => db.destroy())
  const NORMAL = 1
  t.is(raw.prepare('pragma synchronous').get()?.synchronous, NORMAL)
  t.is(raw.prepare('pragma journal_mode').get()?.journal_mode, 'wal')
})
