import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
  type SqliteStatement,
} from 'kysely'
import { LRUCache } from 'lru-cache'

const MOST_STATEMENTS = 512

/** A deferred transaction that reads before it writes fails at once when another process wrote in between. */
class ImmediateDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'))
  }
}

/** Enables transactional migrations: a failed one leaves nothing. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

/** Creates Kysely's dialect for a database of `node:sqlite`, with cached prepared statements. */
export function createSqliteDialect(database: DatabaseSync): Dialect {
  return {
    createAdapter: () => new TransactionalAdapter(),
    createDriver: () => new ImmediateDriver({ database: keepStatements(database) }),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

function keepStatements(database: DatabaseSync): SqliteDatabase {
  const kept = new LRUCache<string, SqliteStatement>({ max: MOST_STATEMENTS })
  return {
    close: () => database.close(),
    prepare(sql) {
      const existing = kept.get(sql)
      if (existing !== undefined) return existing
      const statement = wrap(database.prepare(sql))
      kept.set(sql, statement)
      return statement
    },
  }
}

/** The casts are safe: parameters are strings, numbers and null, as the types of the tables are. */
function wrap(statement: StatementSync): SqliteStatement {
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...(parameters as SQLInputValue[])),
    run: (parameters) => statement.run(...(parameters as SQLInputValue[])),
    iterate: (parameters) => statement.iterate(...(parameters as SQLInputValue[])),
  }
}
