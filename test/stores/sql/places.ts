import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test, { type ExecutionContext, type Implementation } from 'ava'
import { openSqlStore, type SqlStore } from '../../../src/stores/sql/store.ts'
import { createMigratedDatabase } from '../../support/migrated-database.ts'
import { once } from '../../support/once.ts'
import { createDatabase, isPostgresExpected, isUsed, query } from '../../support/postgres.ts'
import { createRecordingLog, type RecordingLog } from '../../support/recording-log.ts'
import { querySqlite } from '../../support/sqlite.ts'

/** A database of a test's own. */
export interface Place {
  readonly databaseUrl: string | undefined
  readonly dataDir: string
  readonly log: RecordingLog
  /** Opens it; closed with the test. Waits long by default: the machine may be busy. */
  open(options?: { patienceMs?: number }): Promise<SqlStore>
  /** Sends one statement past the store. */
  sql(text: string): Promise<Record<string, unknown>[]>
}

/** One of the engines that a store runs on. */
export interface Engine {
  readonly name: 'sqlite' | 'postgres'
  readonly test: (title: string, run: Implementation<[]>) => void
  /** Creates a database of a test's own; on PostgreSQL it has its tables. */
  createPlace(t: ExecutionContext): Promise<Place>
  /** Creates one without tables. */
  createEmptyPlace(t: ExecutionContext): Promise<Place>
  /** One for all tests of the file that keep to scopes of their own. */
  shared(): Promise<OpenPlace>
}

/** A database with its store. */
export interface OpenPlace {
  readonly place: Place
  readonly store: SqlStore
}

/** Owner that closes opened parts: a test's `t`, or the end of the file. */
type Owner = Pick<ExecutionContext, 'teardown'>

const PATIENCE_MS = 120_000

const endings: (() => unknown)[] = []
const fileOwner: Owner = { teardown: (end) => void endings.push(end) }
test.after.always('close what the tests shared', async () => {
  for (const end of endings.reverse()) await end()
})

const testWithPostgres = isPostgresExpected ? test : test.skip

/** Both engines; a file's tests share one PostgreSQL server. */
export const engines: readonly Engine[] = allEngines().filter(({ name }) => isUsed(name))

function allEngines(): Engine[] {
  return [
    {
      name: 'sqlite',
      test: (title, run) => void test(`sqlite: ${title}`, run),
      createPlace: createSqlitePlace,
      createEmptyPlace: createSqlitePlace,
      shared: once(() => openPlace(createSqlitePlace)),
    },
    {
      name: 'postgres',
      test: (title, run) => void testWithPostgres(`postgres: ${title}`, run),
      createPlace: (t) => createPostgresPlace(t, createMigratedDatabase),
      createEmptyPlace: (t) => createPostgresPlace(t, createDatabase),
      shared: once(() => openPlace((owner) => createPostgresPlace(owner, createMigratedDatabase))),
    },
  ]
}

async function openPlace(create: (owner: Owner) => Promise<Place>): Promise<OpenPlace> {
  const place = await create(fileOwner)
  return { place, store: await place.open() }
}

async function createPostgresPlace(owner: Owner, create: () => Promise<string>): Promise<Place> {
  const databaseUrl = await create()
  return createPlace(owner, databaseUrl, (text) => query(databaseUrl, text))
}

/** Creates an empty SQLite database. */
export async function createSqlitePlace(owner: Owner): Promise<Place> {
  const place = await createPlace(owner, undefined, async (text) => querySqlite(place.dataDir, text))
  return place
}

async function createPlace(owner: Owner, databaseUrl: string | undefined, sql: Place['sql']): Promise<Place> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'turnpike-sql-'))
  const log = createRecordingLog()
  const opened: SqlStore[] = []
  owner.teardown(async () => {
    for (const store of opened) await store.close()
    rmSync(dataDir, { recursive: true })
  })
  const clock = { nowMs: () => Date.now() }
  return {
    databaseUrl,
    dataDir,
    log,
    sql,
    async open({ patienceMs = PATIENCE_MS } = {}) {
      const store = await openSqlStore({ databaseUrl, dataDir, log, clock, patienceMs })
      opened.push(store)
      return store
    },
  }
}

/** Ends the lease of these holds, or of all, as time would. */
export async function endLeases({ sql }: Pick<Place, 'sql'>, holdIds?: readonly string[]): Promise<void> {
  const these = holdIds === undefined ? '' : ` and id in (${holdIds.map((id) => `'${id}'`).join()})`
  await sql(`update spend_hold set due_at_ms = 0 where state = 'open'${these}`)
}
