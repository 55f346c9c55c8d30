import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import test from 'ava'
import { sql } from 'kysely'
import { migrateDatabase } from '../../../src/stores/sql/engine/migrate.ts'
import { migrations, tableSets } from '../../../src/stores/sql/migrations.ts'
import { telemetryFile } from '../../../src/stores/sql/sqlite/location.ts'
import { runCommandInThread } from '../../support/command-in-thread.ts'
import { runCommand } from '../../support/command-line.ts'
import { migrateWith, type Steps } from './migrate-with.ts'
import { createSqlitePlace, engines, type Place } from './places.ts'

const NAMES = Object.values(tableSets).flatMap(({ steps }) => Object.keys(steps))

const FAILING: Steps = {
  ...migrations,
  '9001-good': { up: (db) => db.schema.createTable('half').addColumn('id', 'text').execute() },
  '9002-bad': {
    async up(db) {
      await db.schema.createTable('half_too').addColumn('id', 'text').execute()
      await sql`select * from nowhere`.execute(db)
    },
  },
}

for (const engine of engines) {
  engine.test('migrations: the first start makes the tables, the next has nothing to do', async (t) => {
    const place = await engine.createEmptyPlace(t)
    t.deepEqual(await migrateDatabase(place), NAMES)
    t.deepEqual(await migrateDatabase(place), [])
  })

  engine.test('migrations: of several starts at once one makes the tables', async (t) => {
    const place = await engine.createEmptyPlace(t)
    const stores = await Promise.all([1, 2, 3].map(() => place.open()))
    for (const store of stores) t.is(await store.run('receipt.get', { id: 'r', scope: 's' }), undefined)
    t.deepEqual(
      (await place.sql('select name from kysely_migration order by name')).map(({ name }) => name),
      Object.keys(migrations),
    )
  })

  engine.test('migrations: a failing step is named, and leaves nothing, nor do those before it', async (t) => {
    const place = await engine.createEmptyPlace(t)
    await migrateDatabase(place)
    const failure = { code: 'internal_error', message: /migration `9002-bad` failed: .*nowhere/ }
    await t.throwsAsync(migrateWith(place, FAILING), failure)
    await t.throwsAsync(place.sql('select * from half'))
    await t.throwsAsync(place.sql('select * from half_too'))
    t.deepEqual(await migrateDatabase(place), [])
  })

  engine.test('migrations: the tables of another version are left alone', async (t) => {
    const place = await engine.createEmptyPlace(t)
    const newer = { ...migrations, '9001-good': FAILING['9001-good'] ?? {} } as Steps
    await migrateWith(place, newer)
    await t.throwsAsync(place.open(), { message: /another version \(it has `9001-good`\)/ })
  })

  engine.test('migrations: the tables of a checkout before the first release are kept', async (t) => {
    const place = await engine.createEmptyPlace(t)
    await putFormerTables(place)
    t.deepEqual(await migrateDatabase(place), NAMES.slice(1))
    t.deepEqual(
      (await place.sql('select name from kysely_migration order by name')).map(({ name }) => name),
      Object.keys(migrations),
    )
    t.deepEqual(await place.sql('select managed_until_ms from api_key'), [])
  })

  engine.test(
    'migrations: several starts at once keep the tables of a checkout before the first release',
    async (t) => {
      const place = await engine.createEmptyPlace(t)
      await putFormerTables(place)
      await Promise.all([1, 2, 3, 4].map(() => place.open()))
      t.deepEqual(
        (await place.sql('select name from kysely_migration order by name')).map(({ name }) => name),
        Object.keys(migrations),
      )
    },
  )

  engine.test('cli: migrate makes the tables and prints its steps', async (t) => {
    const { databaseUrl, dataDir } = await engine.createEmptyPlace(t)
    const database = databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }
    // In a process and in a thread: the same code and output.
    const run = databaseUrl === undefined ? runCommand : runCommandInThread
    const result = await run(['migrate'], { env: { ...settings(dataDir), ...database } })
    t.deepEqual(result, { code: 0, stdout: `${NAMES.join('\n')}\n`, stderr: '' })
  })
}

/** Makes the tables of a checkout before the first release. */
async function putFormerTables(place: Place): Promise<void> {
  await migrateWith(place, Object.fromEntries(Object.entries(migrations).slice(0, 1)))
  await place.sql(
    "insert into kysely_migration (name, timestamp) values ('0017-alerts', '2026'), ('0018-settings', '2026')",
  )
  await place.sql("delete from kysely_migration where name = '0001-tables'")
}

/** Returns settings: the project's own configuration must not reach a test. */
function settings(dataDir: string): Record<string, string> {
  const config = path.join(dataDir, 'turnpike.yaml')
  writeFileSync(config, '')
  return { SVC_CONFIG: config, SVC_DATA_DIR: dataDir }
}

test('cli: migrate and backup on a database that is there', async (t) => {
  const { dataDir, log } = await createSqlitePlace(t)
  await migrateDatabase({ databaseUrl: undefined, dataDir, log })
  const env = settings(dataDir)
  const copy = path.join(dataDir, 'copy.db')
  const [migrated, made] = await Promise.all([
    runCommandInThread(['migrate'], { env }),
    runCommandInThread(['backup', copy], { env }),
  ])
  t.deepEqual(migrated, { code: 0, stdout: 'The tables are up to date.\n', stderr: '' })
  t.is(made.code, 0)
  t.regex(made.stdout, /^Wrote .*copy\.db \(\d+ bytes\)\.\nWrote .*copy\.telemetry\.db \(\d+ bytes\)\.\n$/)
  for (const name of ['copy.db', 'copy.telemetry.db'])
    t.is(statSync(path.join(dataDir, name)).mode & 0o777, 0o600, `${name} is for its owner alone`)
})

test('cli: backup explains its obstacles', async (t) => {
  const { dataDir } = await createSqlitePlace(t)
  const env = settings(dataDir)
  const copy = path.join(dataDir, 'copy.db')
  const [nothing, onServer] = await Promise.all([
    runCommandInThread(['backup', copy], { env }),
    runCommandInThread(['backup', copy], { env: { ...env, DATABASE_URL: 'postgresql://127.0.0.1/x' } }),
  ])
  t.like(nothing, { code: 66, stderr: `There is no database at ${dataDir}/turnpike.db.\n` })
  t.is(onServer.code, 2)
  t.regex(onServer.stderr, /`pg_dump`/)
})

test('cli: backup writes neither copy when the second is in its way', async (t) => {
  const { dataDir, log } = await createSqlitePlace(t)
  await migrateDatabase({ databaseUrl: undefined, dataDir, log })
  const copy = path.join(dataDir, 'copy.db')
  writeFileSync(path.join(dataDir, 'copy.telemetry.db'), '')
  const refused = await runCommandInThread(['backup', copy], { env: settings(dataDir) })
  t.is(refused.code, 2)
  t.regex(refused.stderr, /copy\.telemetry\.db exists\. Name a new file\./)
  t.false(existsSync(copy))
})

test('cli: backup copies a database that has no telemetry beside it', async (t) => {
  const { dataDir, log } = await createSqlitePlace(t)
  await migrateDatabase({ databaseUrl: undefined, dataDir, log })
  rmSync(telemetryFile(dataDir))
  const made = await runCommandInThread(['backup', path.join(dataDir, 'copy.db')], { env: settings(dataDir) })
  t.is(made.code, 0)
  t.regex(made.stdout, /^Wrote .*copy\.db \(\d+ bytes\)\.\n$/)
})
