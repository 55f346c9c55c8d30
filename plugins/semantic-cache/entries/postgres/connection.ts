import pg from 'pg'
import type { Log } from 'turnpike/plugin'
import { sqlStateOf } from './sql-state.ts'

/** More is refused: while PostgreSQL hangs, what waits for a connection must not fill the memory. */
const MOST_WAITING = 20_000
const SERVERS_SHARE = 0.8
/** SQLSTATE: no such table. Somebody has dropped it. */
const UNDEFINED_TABLE = '42P01'

/** What connections are made from. */
export interface ConnectionOptions {
  readonly url: string
  readonly log: Log
  /** How long connecting may take, and as long again what is done then. */
  readonly deadlineMs: number
  /** Connections at most. */
  readonly most: number
}

/** Connections that are made as they are needed. Whatever is late has its connection cut, and rejects. */
export class Connections {
  readonly #pool: pg.Pool
  readonly #deadlineMs: number

  constructor({ url, log, deadlineMs, most }: ConnectionOptions) {
    this.#deadlineMs = deadlineMs
    this.#pool = new pg.Pool({
      connectionString: url,
      max: most,
      application_name: 'turnpike',
      connectionTimeoutMillis: deadlineMs,
      // The server gives up first, so that the connection can be used again.
      statement_timeout: SERVERS_SHARE * deadlineMs,
      keepAlive: true,
    })
    // Without listeners, a connection that breaks would end the process: while idle, and while used.
    this.#pool.on('error', (error) => log.debug({ err: error }, 'entries.unreachable'))
    this.#pool.on('connect', (client) => client.on('error', () => {}))
  }

  /** Runs one statement and gives its rows. */
  ask(text: string, values: readonly unknown[] = []): Promise<readonly Record<string, unknown>[]> {
    return this.use(async (client) => (await client.query(text, [...values])).rows)
  }

  /** Runs `work` in one transaction. */
  transact(work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
    return this.use(async (client) => {
      await client.query('begin')
      try {
        await work(client)
        await client.query('commit')
      } catch (error) {
        await client.query('rollback')
        throw error
      }
    })
  }

  async use<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    if (this.#pool.ending) throw new Error('the connections to PostgreSQL are closed')
    if (this.#pool.waitingCount >= MOST_WAITING) throw new Error('too much waits for PostgreSQL')
    const client = await this.#pool.connect()
    let isReleased = false
    const release = (isBroken: boolean): void => {
      if (!isReleased) client.release(isBroken)
      isReleased = true
    }
    const timer = setTimeout(() => release(true), this.#deadlineMs)
    try {
      const result = await work(client)
      release(false)
      return result
    } catch (error) {
      // What the server itself has refused leaves the connection as it was.
      release(sqlStateOf(error) === undefined)
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  async close(): Promise<void> {
    if (!this.#pool.ending) await this.#pool.end()
  }
}

/** Whether the tables are not there any more. */
export function isTableMissing(error: unknown): boolean {
  return sqlStateOf(error) === UNDEFINED_TABLE
}
