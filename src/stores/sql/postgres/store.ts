import { Kysely, PostgresDialect, type PostgresPoolClient, sql } from 'kysely'
import type pg from 'pg'
import { GatewayError } from '../../../core/errors.ts'
import type { Log } from '../../../core/ports/log.ts'
import { type CommandInput, type CommandName, type CommandOutput, commands, WITHOUT_TRANSACTION } from '../commands.ts'
import { type Command, Undo } from '../engine/command.ts'
import { postgresError, sqlStateOf, unavailable } from '../engine/faults.ts'
import type { Database } from '../schema.ts'
import type { SqlStore } from '../store.ts'
import { LaneKeys } from './lane-keys.ts'
import { Lanes, longestLaneWaitMs } from './lanes.ts'
import { migratePostgres } from './migrate.ts'
import { createPool } from './pool.ts'
import { prepareStatements } from './prepared.ts'
import { type ShortCut, shortCuts } from './short-cuts.ts'

/**
 * DESIGN — PostgreSQL store
 *
 * Commands that change the same rows wait for each other in memory, not on connections (`lanes.ts`), and look-ups of keys
 * have connections of their own: a slow caller takes none from the others.
 *
 * Each command is a transaction on a connection of its own, or one statement (`short-cuts.ts`); the server's clock is the
 * present. After its time-out the connection is closed, which rolls back the rest: no caller waits for a hanging server,
 * and the connection is not used again. Commands that the server rolled back because of others (deadlock, serialization) are retried.
 */
const PATIENCE_MS = 2000
/** Per process. */
const MOST_CONNECTIONS = 10
const MOST_LOOKUPS = 2
const CONNECT_SHARE = 0.5
const COMMIT_SHARE = 0.75
const ANSWER_SHARE = 0.95
const MOST_WAITING = 4096
const TRIES = 3
/** Timers may be this much early. */
const TIMER_MS = 5
const SERIALIZATION_FAILURE = '40001'
const DEADLOCK = '40P01'

const SERVER_NOW = sql<number>`(extract(epoch from statement_timestamp()) * 1000)::bigint`

/** Options of a store on PostgreSQL. */
export interface PostgresStoreOptions {
  readonly url: string
  readonly log: Log
  /** Time-out of a command. */
  readonly patienceMs?: number | undefined
}

/** Migrates the tables and opens a pool of connections. Throws a `GatewayError` with the cause. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<SqlStore> {
  await migratePostgres(options)
  return new PostgresStore(options)
}

/** A command with its input; the types of both have been checked by `run`. */
interface Call {
  readonly name: CommandName
  readonly input: unknown
  readonly askedAtMs: number
}

class PostgresStore implements SqlStore {
  readonly #pool: pg.Pool
  /** For look-ups of keys. */
  readonly #lookups: pg.Pool
  #answers = 0
  readonly #lanes: Lanes
  readonly #laneKeys = new LaneKeys()
  readonly #patienceMs: number
  readonly #send = prepareStatements()
  readonly #queries = new WeakMap<pg.PoolClient, Kysely<Database>>()
  #waiting = 0

  constructor({ url, log, patienceMs = PATIENCE_MS }: PostgresStoreOptions) {
    this.#patienceMs = patienceMs
    this.#lanes = new Lanes(() => this.#answers, longestLaneWaitMs(patienceMs))
    const connectTimeoutMs = CONNECT_SHARE * patienceMs
    const options = { url, log, connectTimeoutMs, statementTimeoutMs: patienceMs }
    this.#pool = createPool({ ...options, max: MOST_CONNECTIONS })
    this.#lookups = createPool({ ...options, max: MOST_LOOKUPS })
    for (const pool of [this.#pool, this.#lookups]) this.#countAnswers(pool)
  }

  async run<Name extends CommandName>(name: Name, input: CommandInput<Name>): Promise<CommandOutput<Name>> {
    if (this.#pool.ending) throw unavailable('The database is closed.')
    if (this.#waiting >= MOST_WAITING) throw unavailable('The database has too much to do.')
    this.#waiting++
    const lane = this.#laneKeys.of(name, input)
    const attempt = async () => {
      // The cast is safe: the command of that name is run.
      return (await this.#attempts({ name, input, askedAtMs: performance.now() })) as CommandOutput<Name>
    }
    try {
      return await (lane === undefined ? attempt() : this.#lanes.run(lane, attempt))
    } finally {
      this.#waiting--
    }
  }

  isInPlace(): boolean {
    return true
  }

  async backup(): Promise<void> {
    throw new GatewayError('invalid_request', 'A PostgreSQL database is backed up with its own tools: use `pg_dump`.')
  }

  async close(): Promise<void> {
    if (!this.#pool.ending) await Promise.all([this.#pool.end(), this.#lookups.end()])
  }

  /** Counts opened connections and finished statements, which leave their client without a queue. */
  #countAnswers(pool: pg.Pool): void {
    const count = () => void this.#answers++
    pool.on('connect', (client) => {
      count()
      client.on('drain', count)
    })
  }

  async #attempts(call: Call): Promise<unknown> {
    for (let tried = 1; ; tried++) {
      try {
        return await this.#onConnection(call)
      } catch (error) {
        const state = sqlStateOf(error)
        if ((state !== DEADLOCK && state !== SERIALIZATION_FAILURE) || tried === TRIES) throw postgresError(error)
      }
    }
  }

  async #onConnection(call: Call): Promise<unknown> {
    const client = await this.#connect(call.name === 'keys.find' ? this.#lookups : this.#pool)
    let isReleased = false
    const release = (isBroken: boolean): void => {
      if (!isReleased) client.release(isBroken)
      isReleased = true
    }
    const leftMs = call.askedAtMs + ANSWER_SHARE * this.#patienceMs - performance.now()
    const timer = setTimeout(() => release(true), Math.max(leftMs, 0))
    try {
      const output = await this.#perform(client, call)
      release(false)
      return output
    } catch (error) {
      // A refusal by the server leaves the connection unchanged.
      release(!(error instanceof GatewayError) && sqlStateOf(error) === undefined)
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  async #connect(pool: pg.Pool): Promise<pg.PoolClient> {
    const startedAtMs = performance.now()
    try {
      return await pool.connect()
    } catch (error) {
      // The pool's error is the same for a server that hangs and for a pool in full use.
      const wasBusy = performance.now() - startedAtMs >= CONNECT_SHARE * this.#patienceMs - TIMER_MS
      throw wasBusy ? unavailable('The database did not answer in time.', error) : error
    }
  }

  async #perform(client: pg.PoolClient, { name, input, askedAtMs }: Call): Promise<unknown> {
    // The casts are safe: `run` lets a name be called with its own input only.
    const command = commands[name] as Command<unknown, unknown>
    const shortCut = shortCuts[name] as ShortCut<unknown, unknown> | undefined
    const db = this.#queriesOn(client)
    if (WITHOUT_TRANSACTION.has(name)) return command(db, input, SERVER_NOW)
    const commitInTime = <Result>(work: () => Promise<Result>) => this.#inTransaction(client, work, askedAtMs)
    const inTransaction = (rest: unknown) => commitInTime(() => command(db, rest, SERVER_NOW))
    if (shortCut === undefined) return inTransaction(input)
    return shortCut(db, input, { now: SERVER_NOW, inTransaction, commitInTime })
  }

  async #inTransaction<Output>(client: pg.PoolClient, work: () => Promise<Output>, askedAtMs: number): Promise<Output> {
    try {
      await client.query('begin')
      const output = await work()
      if (performance.now() - askedAtMs > COMMIT_SHARE * this.#patienceMs)
        throw unavailable('The database did not answer in time.')
      const { command: done } = await client.query('commit')
      if (done !== 'COMMIT') throw new GatewayError('internal_error', 'The database has undone a command.')
      return output
    } catch (error) {
      await client.query('rollback')
      if (error instanceof Undo) return error.output as Output // safe: it is of this command
      throw error
    }
  }

  /** Kysely on this one connection, on which transactions are begun and ended here. */
  #queriesOn(client: pg.PoolClient): Kysely<Database> {
    const existing = this.#queries.get(client)
    if (existing !== undefined) return existing
    const query = (text: string, values: readonly unknown[]) => this.#send(client, text, values)
    const only = { query: query as unknown as PostgresPoolClient['query'], release() {} } // safe: no cursors are used
    const pool = { connect: async () => only, end: async () => {}, options: {} }
    const db = new Kysely<Database>({ dialect: new PostgresDialect({ pool }) })
    this.#queries.set(client, db)
    return db
  }
}
