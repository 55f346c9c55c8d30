import type { Clock } from '../../core/ports/clock.ts'
import type { Log } from '../../core/ports/log.ts'
import type { CommandInput, CommandName, CommandOutput } from './commands.ts'
import { sqliteFile } from './sqlite/location.ts'
import { openSqliteStore } from './sqlite/store.ts'

/**
 * The database of accounts and money, in a file of the data folder or on a PostgreSQL server. Commands run one after
 * another in transactions: each happens wholly and is on disk when its promise resolves, or not at all. While the
 * database cannot be used, commands reject within two seconds with `service_unavailable` and say why.
 */
export interface SqlStore {
  /** Runs a command. Throws what the command throws, or `service_unavailable`. */
  run<Name extends CommandName>(name: Name, input: CommandInput<Name>): Promise<CommandOutput<Name>>
  /** Whether what is committed now will be found again: the file is at its place. On PostgreSQL always. */
  isInPlace(): boolean
  /** Copies the database as of one moment into a new file, while it is in use. On PostgreSQL: throws, and says `pg_dump`. */
  backup(file: string): Promise<void>
  /** Finishes what is under way and lets the database go. */
  close(): Promise<void>
}

/** Where the database is, and what it is given. */
export interface SqlStoreOptions {
  /** Of a PostgreSQL server; unset: SQLite in `dataDir`. */
  readonly databaseUrl: string | undefined
  readonly dataDir: string
  readonly log: Log
  readonly clock: Clock
  /** How long a command may take; default two seconds. */
  readonly patienceMs?: number | undefined
}

/** Opens the database and brings its tables up to date. Throws a `GatewayError` that says what is wrong with it. */
export async function openSqlStore({ databaseUrl, dataDir, ...options }: SqlStoreOptions): Promise<SqlStore> {
  if (databaseUrl === undefined) return openSqliteStore({ file: sqliteFile(dataDir), ...options })
  // Only when it is used: who has no PostgreSQL need not load its client.
  const { openPostgresStore } = await import('./postgres/store.ts')
  return openPostgresStore({ url: databaseUrl, ...options })
}
