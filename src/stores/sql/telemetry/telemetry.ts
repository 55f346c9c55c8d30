import { BufferedWriter, type BufferedWriterOptions } from '../../../core/buffered-writer.ts'
import { messageOf, messageWithCause } from '../../../core/errors.ts'
import type { Clock } from '../../../core/ports/clock.ts'
import type { Log } from '../../../core/ports/log.ts'
import type { ConversationReader } from '../../../core/telemetry/conversations.ts'
import type { Telemetry } from '../../../core/telemetry/telemetry.ts'
import type { CommandInput, CommandName, CommandOutput } from '../commands.ts'
import { unavailable } from '../engine/faults.ts'
import { telemetryFile } from '../sqlite/location.ts'
import { openSqliteStore } from '../sqlite/store.ts'
import type { SqlStore } from '../store.ts'
import { type RequestRow, toRow } from './rows.ts'

/** A batch is large, and no request waits for it. */
const PATIENCE_MS = 10_000

/** Longest wait of a read for rows that are being stored; it goes on without them. */
const STORED_WITHIN_MS = 1000

const WRITING = {
  event: 'telemetry.not-stored',
  mostAtOnce: 500,
  momentMs: 240,
  pauseMs: 1000,
  longestPauseMs: 60_000,
  warnEveryMs: 10_000,
  retriesAtEnd: false,
} as const

/** Telemetry in a database. */
export interface SqlTelemetry extends Telemetry, ConversationReader, Pick<SqlStore, 'run'> {
  /** Stores waiting rows, for at most `timeoutMs`, and closes the database. */
  close(timeoutMs: number): Promise<void>
}

/** Options of telemetry. */
export interface TelemetryOptions
  extends Partial<Pick<BufferedWriterOptions<RequestRow>, 'mostWaiting' | 'momentMs' | 'pauseMs'>> {
  /** Opens its database; called again when that failed. */
  readonly open: () => Promise<Pick<SqlStore, 'run' | 'close'>>
  /** Called before each read, to record what has not been recorded yet. Default: nothing. */
  readonly beforeRead?: (() => void) | undefined
  readonly log: Log
}

/** Location of telemetry. */
export interface TelemetryPlace {
  /** Address of a PostgreSQL server, whose store is `accounts`; unset: a file of its own in `dataDir`. */
  readonly databaseUrl: string | undefined
  readonly dataDir: string
  readonly accounts: SqlStore
  readonly beforeRead?: TelemetryOptions['beforeRead']
  readonly log: Log
  readonly clock: Clock
}

/** Opens telemetry in its own file and thread, so that money never waits for it; or in the one PostgreSQL database. */
export function openTelemetryStore(place: TelemetryPlace): SqlTelemetry {
  const { databaseUrl, dataDir, accounts, beforeRead, log, clock } = place
  const file = telemetryFile(dataDir)
  const open = async () =>
    databaseUrl === undefined
      ? openSqliteStore({ file, tables: 'telemetry', log: log.child({ file }), clock, patienceMs: PATIENCE_MS })
      : { run: accounts.run.bind(accounts), close: async () => {} }
  return createTelemetry({ open, beforeRead, log })
}

/**
 * Opens the database for the first row or query: its thread takes 10 MB, and a start would wait for it. While that
 * fails, rows wait in memory, up to a bound.
 */
export function createTelemetry({ open, beforeRead, log, ...settings }: TelemetryOptions): SqlTelemetry {
  const onFailure = (error: unknown): void => log.warn({ reason: messageWithCause(error) }, 'telemetry.failed')
  const opener = new Opener(open, onFailure)
  const run = async <Name extends CommandName>(name: Name, input: CommandInput<Name>): Promise<CommandOutput<Name>> =>
    (await opener.opened()).run(name, input)
  const writer = new BufferedWriter<RequestRow>({
    ...WRITING,
    ...settings,
    log,
    put: (rows) => run('telemetry.put', rows),
  })
  /** Reads what has been recorded so far: rows that wait are stored first. */
  const read = async <Name extends CommandName>(
    name: Name,
    input: CommandInput<Name>,
  ): Promise<CommandOutput<Name>> => {
    beforeRead?.()
    await writer.flush(STORED_WITHIN_MS)
    return run(name, input)
  }
  return {
    run,
    record(request) {
      try {
        writer.add(toRow(request))
      } catch (error) {
        writer.fail(error)
      }
    },
    list: (scopes, page) => read('telemetry.list', { ...page, scopes }),
    find: (scopes, id) => read('telemetry.find', { scopes, id }),
    usage: (scopes, range) => read('telemetry.usage', { ...range, scopes }),
    runs: (scopes, page) => read('telemetry.runs', { ...page, scopes }),
    findRun: (scopes, id) => read('telemetry.run', { scopes, id }),
    agentIds: (scopes, id, page) => read('telemetry.agents', { ...page, scopes, id }),
    turns: (scopes, id, page) => read('telemetry.turns', { ...page, scopes, id }),
    groups: (scopes, query) => read('telemetry.groups', { ...query, scopes }),
    modules: (scopes, sample) => read('telemetry.modules', { ...sample, scopes }),
    losses: (scopes, range) => read('telemetry.losses', { ...range, scopes }),
    async close(timeoutMs) {
      await writer.close(timeoutMs)
      await opener.close()
    },
  }
}

type Opened = Pick<SqlStore, 'run' | 'close'>

/** Opens a store once, retrying until it succeeds. */
class Opener {
  readonly #open: () => Promise<Opened>
  readonly #onFailure: (error: unknown) => void
  #hasFailed = false
  #store: Opened | undefined
  #opening: Promise<Opened> | undefined
  #isClosed = false

  /** `onFailure` is called for the first try that fails. */
  constructor(open: () => Promise<Opened>, onFailure: (error: unknown) => void) {
    this.#open = open
    this.#onFailure = onFailure
  }

  /** Returns the open store. Rejects with `service_unavailable` for any cause: a retry may succeed. */
  async opened(): Promise<Opened> {
    if (this.#isClosed) throw unavailable('The database is closed.')
    if (this.#store !== undefined) return this.#store
    this.#opening ??= this.#openOnce()
    try {
      this.#store = await this.#opening
      return this.#store
    } catch (error) {
      throw unavailable(messageOf(error), error)
    }
  }

  async #openOnce(): Promise<Opened> {
    try {
      return await this.#open()
    } catch (error) {
      if (!this.#hasFailed) this.#onFailure(error)
      this.#hasFailed = true
      throw error
    } finally {
      this.#opening = undefined
    }
  }

  /** Closes the store, once it is open: its files belong to it until then. */
  async close(): Promise<void> {
    this.#isClosed = true
    const store = this.#store ?? (await this.#opening?.catch(() => undefined))
    await store?.close()
  }
}
