import { existsSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sqliteFile, telemetryFile } from '../../src/stores/sql/sqlite/location.ts'
import { query } from '../support/postgres.ts'
import type { Fixture } from './fixture.ts'

/** A row of an answer. */
export type Row = Record<string, unknown>

/** The databases of a fixture, looked at beside the gateway. */
export interface Databases {
  /** Queries the database of accounts and money, or that of telemetry, which is the same on PostgreSQL. */
  sql(text: string, where?: 'money' | 'telemetry'): Promise<Row[]>
  /** Rows of each table. */
  rows(): Promise<Record<string, number>>
  /** Bytes of each table, or of each file of the data folder, write-ahead logs among them. */
  bytes(): Promise<Record<string, number>>
}

/** Looks at a fixture's databases. */
export function openDatabases({ databaseUrl, dataFolders: [folder] }: Fixture): Databases {
  return databaseUrl === undefined ? filesIn(folder) : serverAt(databaseUrl)
}

const BUSY_MS = 10_000
/** Not those in which the migrations are written down. */
const OWN = "name not like '%\\_migration%' escape '\\'"

function filesIn(folder: string): Databases {
  const files = { money: sqliteFile(folder), telemetry: telemetryFile(folder) }
  const ask = (text: string, where: keyof typeof files): Row[] => {
    const database = new DatabaseSync(files[where], { timeout: BUSY_MS })
    try {
      return database.prepare(text).all()
    } finally {
      database.close()
    }
  }
  const countAll = (where: keyof typeof files): [string, number][] => {
    const tables = ask(
      `select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and ${OWN}`,
      where,
    )
    return tables.map(({ name }) => [String(name), Number(ask(`select count(*) as n from "${name}"`, where)[0]?.n)])
  }
  return {
    sql: async (text, where = 'money') => ask(text, where),
    rows: async () => Object.fromEntries([...countAll('money'), ...countAll('telemetry')]),
    bytes: async () => Object.fromEntries(filesBelow(folder)),
  }
}

const SIZES = `select name, bytes from (select relname as name, pg_total_relation_size(relid) as bytes from pg_stat_user_tables) as sizes where ${OWN}`

function serverAt(url: string): Databases {
  return {
    sql: (text) => query(url, text),
    async rows() {
      const names = (await query(url, SIZES)).map(({ name }) => String(name))
      const counts = names.map((name) => `select '${name}' as name, count(*) as n from "${name}"`)
      const rows = await query(url, counts.join(' union all '))
      return Object.fromEntries(rows.map(({ name, n }) => [String(name), Number(n)]))
    },
    bytes: async () =>
      Object.fromEntries((await query(url, SIZES)).map(({ name, bytes }) => [String(name), Number(bytes)])),
  }
}

/** Names and bytes of the files in a folder and below. */
export function filesBelow(folder: string): [string, number][] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name): [string, number][] => {
    const stats = statSync(path.join(folder, name), { throwIfNoEntry: false })
    return stats?.isFile() ? [[name, stats.size]] : []
  })
}
