import type { Clock } from '../../core/ports/clock.ts'
import type { Log } from '../../core/ports/log.ts'
import type { CommandInput, CommandName, CommandOutput } from './commands.ts'
import { sqliteFile } from './sqlite/location.ts'
import { openSqliteStore } from './sqlite/store.ts'

/**
 * The database of accounts and money, in a file of the data folder or on a PostgreSQL server. Commands run one after
 * another in transactions: each is atomic, and on disk when its promise resolves. While the
 * database is unusable, commands reject within their time-out with `service_unavailable` and the cause.
 */
export interface SqlStore {
  /** Runs a command. Throws what the command throws, or `service_unavailable`. */
  run<Name extends CommandName>(name: Name, input: CommandInput<Name>): Promise<CommandOutput<Name>>
  /** Returns true when commits are durable: the file is at its place. Always true on PostgreSQL. */
  isInPlace(): boolean
  /** Copies the database as of one moment into a new file, while it is in use. On PostgreSQL: throws, and names `pg_dump`. */
  backup(file: string): Promise<void>
  /** Finishes in-flight commands and closes the database. */
  close(): Promise<void>
}

/** Location and options of the database. */
export interface SqlStoreOptions {
  /** Address of a PostgreSQL server; unset: SQLite in `dataDir`. */
  readonly databaseUrl: string | undefined
  readonly dataDir: string
  readonly log: Log
  readonly clock: Clock
  /** Time-out of a command; default two seconds. */
  readonly patienceMs?: number | undefined
}

/** Opens the database and migrates its tables. Throws a `GatewayError` with the cause. */
export async function openSqlStore({ databaseUrl, dataDir, ...options }: SqlStoreOptions): Promise<SqlStore> {
  if (databaseUrl === undefined) return openSqliteStore({ file: sqliteFile(dataDir), ...options })
  // Loaded on demand: a gateway without PostgreSQL need not load its client.
  const { openPostgresStore } = await import('./postgres/store.ts')
  return openPostgresStore({ url: databaseUrl, ...options })
}
