import pg from 'pg'
import { messageOf } from '../../../core/errors.ts'
import type { Log } from '../../../core/ports/log.ts'
import { hostOf } from '../../../core/system/host-of.ts'

const INT8 = 20

/** Options of a pool. */
export interface PoolOptions {
  readonly url: string
  readonly log: Log
  /** The most connections at once. */
  readonly max: number
  /** Time-out of connecting, or waiting for a free connection. */
  readonly connectTimeoutMs: number
  /** The server's time-out of one statement; 0: none. */
  readonly statementTimeoutMs: number
}

/** Opens connections to PostgreSQL as they are needed; one that breaks is replaced. */
export function createPool({ url, log, max, connectTimeoutMs, statementTimeoutMs }: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    application_name: 'turnpike',
    connectionTimeoutMillis: connectTimeoutMs,
    statement_timeout: statementTimeoutMs,
    keepAlive: true,
    types: { getTypeParser },
  })
  // Without listeners, a connection that breaks would end the process: while idle, and while used, when its query fails.
  pool.on('error', (error) => log.warn({ database: hostOf(url), reason: messageOf(error) }, 'store.connection-lost'))
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** Parses `bigint`, which arrives as text because not every one is exact in JavaScript; all of ours are. */
const getTypeParser: typeof pg.types.getTypeParser = (type: number, format?: 'text' | 'binary') =>
  // The cast is safe: of the several shapes of this function, the pool uses the one with a number.
  type === INT8 && format !== 'binary' ? parseSafeInteger : pg.types.getTypeParser(type, format as 'text')

function parseSafeInteger(text: string): number {
  const number = Number(text)
  if (Number.isSafeInteger(number)) return number
  throw new RangeError(`The database has a number that is not exact here: ${text}`)
}
