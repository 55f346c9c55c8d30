import { databaseOf } from './clustered.ts'
import { query } from './postgres.ts'
import { type DatabaseName, querySqlite } from './sqlite.ts'

/** A row of a query. */
export type Row = Record<string, string | number | null>

/**
 * Sends one statement to the database of the gateway with this data folder, beside it: to a file in the folder, or in
 * the drill of clusters to the PostgreSQL database that the gateways of the folder share.
 */
export async function queryGateway(dataDir: string, text: string, name: DatabaseName = 'ledger'): Promise<Row[]> {
  const database = await databaseOf(dataDir)
  // Safe: no column is a blob, and none holds a number beyond JavaScript's safe integers.
  if (database === undefined) return querySqlite(dataDir, text, name) as Row[]
  const rows = (await query(database, text)) as Row[]
  return rows.map((row) => Object.fromEntries(Object.entries(row).map(([column, value]) => [column, numberOf(value)])))
}

/** PostgreSQL sends 64-bit integers and sums of them as text. */
function numberOf(value: Row[string] | undefined): string | number | null {
  return typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : (value ?? null)
}
