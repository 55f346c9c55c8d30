import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { type ExecutionContext, type Implementation } from 'ava'
import { sqliteFile } from '../../../src/stores/sql/sqlite/location.ts'
import { openSqlStore, type SqlStore } from '../../../src/stores/sql/store.ts'
import { createPostgres, isPostgresExpected, type Postgres, query } from '../../support/postgres.ts'
import { createRecordingLog, type RecordingLog } from '../../support/recording-log.ts'

/** An empty database of a test's own. */
export interface Place {
  readonly databaseUrl: string | undefined
  readonly dataDir: string
  readonly log: RecordingLog
  /** Opens it; closed with the test. Waits long unless told otherwise: the machine may be busy. */
  open(options?: { patienceMs?: number }): Promise<SqlStore>
  /** Sends one statement past the store. */
  sql(text: string): Promise<Record<string, unknown>[]>
}

/** One of the engines that a store runs on. */
export interface Engine {
  readonly name: 'sqlite' | 'postgres'
  readonly test: (title: string, run: Implementation<[]>) => void
  createPlace(t: ExecutionContext): Promise<Place>
}

const PATIENCE_MS = 30_000

let postgres: Promise<Postgres> | undefined
const testWithPostgres = isPostgresExpected ? test : test.skip

/** Both engines; a file's tests share one PostgreSQL server. */
export const engines: readonly Engine[] = [
  { name: 'sqlite', test: (title, run) => void test(`sqlite: ${title}`, run), createPlace: createSqlitePlace },
  {
    name: 'postgres',
    test: (title, run) => void testWithPostgres(`postgres: ${title}`, run),
    async createPlace(t) {
      const databaseUrl = await (await server()).createDatabase()
      return createPlace(t, databaseUrl, (text) => query(databaseUrl, text))
    },
  },
]

/** The file's PostgreSQL server, started when it is first wanted. */
export function server(): Promise<Postgres> {
  postgres ??= createPostgres({ teardown: (end) => endings.push(end) })
  return postgres
}

const endings: (() => Promise<void>)[] = []
test.after.always('postgres: end', async () => {
  for (const end of endings) await end()
})

/** An empty SQLite database. */
export async function createSqlitePlace(t: ExecutionContext): Promise<Place> {
  const place = await createPlace(t, undefined, async (text) => {
    const database = new DatabaseSync(sqliteFile(place.dataDir), { timeout: PATIENCE_MS })
    try {
      return database.prepare(text).all()
    } finally {
      database.close()
    }
  })
  return place
}

async function createPlace(t: ExecutionContext, databaseUrl: string | undefined, sql: Place['sql']): Promise<Place> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'turnpike-sql-'))
  const log = createRecordingLog()
  const opened: SqlStore[] = []
  t.teardown(async () => {
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
