import type { Clock } from '../../../core/ports/clock.ts'
import type { CommandInput, CommandName, CommandOutput } from '../commands.ts'
import { FILE_LOST, toError, unavailable } from '../engine/faults.ts'
import type { SqlStore } from '../store.ts'
import { backUp } from './backup.ts'
import { FilePlace } from './file-place.ts'
import type { Outcome } from './group.ts'
import { monotonicMs } from './monotonic.ts'
import { type DatabaseThread, type DatabaseThreadOptions, startDatabaseThread } from './thread.ts'

/**
 * DESIGN — SQLite store
 *
 *   run() ──► queue (bounded) ──► group of at most 64 ──► thread: begin · savepoints · commit ──► promises resolve
 *                  ▲                      │
 *                  └── commands that arrive during a commit are the next group
 *
 * One wait for the disk serves a whole group, and happens in the thread. Of its two seconds a command may spend half in
 * the queue; a group that is not ready to commit after three quarters is rolled back; so a rejected command has not
 * happened, unless the commit itself hangs.
 */
const GROUP_SIZE = 64
const MOST_QUEUED = 4096
const PATIENCE_MS = 2000
const QUEUE_SHARE = 0.5
const COMMIT_SHARE = 0.75
const ANSWER_SHARE = 0.95
const WATCH_EVERY_MS = 50
/** Interval of checking the file's place. */
const LOOK_EVERY_MS = 1000
/** A thread that is silent for this multiple of a command's time-out is considered dead. */
const HANGS_AFTER = 15

/** Options of a store on SQLite. */
export interface SqliteStoreOptions extends DatabaseThreadOptions {
  readonly clock: Clock
  /** Time-out of a command. */
  readonly patienceMs?: number | undefined
}

interface Pending {
  readonly name: CommandName
  readonly input: unknown
  readonly askedAtMs: number
  readonly resolve: (output: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Opens the database in a thread of its own. Rejects with its fault. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<SqlStore> {
  return new SqliteStore(options, await startDatabaseThread(options))
}

class SqliteStore implements SqlStore {
  readonly #options: SqliteStoreOptions
  readonly #thread: DatabaseThread
  readonly #patienceMs: number
  readonly #queue: Pending[] = []
  #group: readonly Pending[] = []
  #groupSentAtMs = 0
  #watch: NodeJS.Timeout | undefined
  readonly #place: FilePlace
  readonly #placeTimer: NodeJS.Timeout
  #isLost = false
  #isClosed = false
  #onIdle = () => {}

  constructor(options: SqliteStoreOptions, thread: DatabaseThread) {
    this.#options = options
    this.#thread = thread
    this.#patienceMs = options.patienceMs ?? PATIENCE_MS
    this.#place = new FilePlace(options.file)
    this.#placeTimer = setInterval(() => this.isInPlace(), LOOK_EVERY_MS).unref()
  }

  isInPlace(): boolean {
    const isLost = !this.#place.isKept()
    const { file, log } = this.#options
    if (isLost && !this.#isLost) log.error({ file, reason: FILE_LOST }, 'store.file-lost')
    if (!isLost && this.#isLost) log.warn({ file }, 'store.file-regained')
    this.#isLost = isLost
    return !isLost
  }

  run<Name extends CommandName>(name: Name, input: CommandInput<Name>): Promise<CommandOutput<Name>> {
    if (this.#isClosed) return Promise.reject(unavailable('The database is closed.'))
    // A restarted thread would create an empty file.
    if (this.#isLost) return Promise.reject(unavailable(FILE_LOST))
    if (this.#queue.length >= MOST_QUEUED) return Promise.reject(unavailable('The database has too much to do.'))
    return new Promise((resolve, reject) => {
      // The cast is safe: the thread answers a command with its own output.
      const resolveAny = resolve as (output: unknown) => void
      this.#queue.push({ name, input, askedAtMs: monotonicMs(), resolve: resolveAny, reject })
      // A late timer runs before replies that have arrived meanwhile: those go first.
      this.#watch ??= setInterval(() => setImmediate(() => this.#rejectLate()), WATCH_EVERY_MS)
      if (this.#group.length === 0) void this.#sendGroups()
    })
  }

  backup(file: string): Promise<void> {
    return backUp(this.#options.file, file)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#placeTimer)
    const { promise: idle, resolve } = Promise.withResolvers<void>()
    this.#onIdle = resolve
    if (this.#group.length === 0) resolve()
    // A hanging thread must not delay the end.
    const timer = setTimeout(resolve, this.#patienceMs)
    await idle
    clearTimeout(timer)
    clearInterval(this.#watch)
    await this.#thread.close()
    for (const { reject } of this.#queue.splice(0)) reject(unavailable('The database is closed.'))
  }

  /** Sends one group after another until the queue is empty. */
  async #sendGroups(): Promise<void> {
    for (;;) {
      this.#rejectLate()
      this.#group = this.#queue.splice(0, GROUP_SIZE)
      const oldest = this.#group[0]
      if (oldest === undefined) break
      this.#groupSentAtMs = monotonicMs()
      await this.#send(this.#group, oldest.askedAtMs + COMMIT_SHARE * this.#patienceMs)
    }
    clearInterval(this.#watch)
    this.#watch = undefined
    this.#onIdle()
  }

  async #send(group: readonly Pending[], deadlineMs: number): Promise<void> {
    const commands = group.map(({ name, input }) => ({ name, input }))
    try {
      const outcomes = await this.#thread.ask({ commands, nowMs: this.#options.clock.nowMs(), deadlineMs })
      for (const [index, pending] of group.entries()) finish(pending, outcomes[index])
    } catch (error) {
      for (const { reject } of group) reject(error)
    }
  }

  #rejectLate(): void {
    const nowMs = monotonicMs()
    const isLate = ({ askedAtMs }: Pending, share: number) => nowMs - askedAtMs > share * this.#patienceMs
    const inTime = this.#queue.findIndex((pending) => !isLate(pending, QUEUE_SHARE))
    const lateInQueue = this.#queue.splice(0, inTime < 0 ? this.#queue.length : inTime)
    const lateInGroup = this.#group.filter((pending) => isLate(pending, ANSWER_SHARE))
    for (const { reject } of [...lateInQueue, ...lateInGroup])
      reject(unavailable('The database did not answer in time.'))
    const hasHung = this.#group.length > 0 && nowMs - this.#groupSentAtMs > HANGS_AFTER * this.#patienceMs
    if (!hasHung) return
    this.#groupSentAtMs = nowMs
    this.#options.log.error({}, 'store.thread-hangs')
    void this.#thread.end()
  }
}

function finish({ resolve, reject }: Pending, outcome: Outcome | undefined): void {
  if (outcome === undefined) reject(unavailable('The database’s thread has left out an answer.'))
  else if ('fault' in outcome) reject(toError(outcome.fault))
  else resolve(outcome.output)
}
