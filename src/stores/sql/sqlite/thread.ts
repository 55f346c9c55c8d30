import { messageOf, messageWithCause } from '../../../core/errors.ts'
import type { Log } from '../../../core/ports/log.ts'
import { type Absence, ThreadHost } from '../../../core/system/thread-host.ts'
import { type Fault, toError, unavailable } from '../engine/faults.ts'
import type { TableSetName } from '../migrations.ts'
import type { Group, Outcome } from './group.ts'
import type { WorkerStart } from './protocol.ts'

const RESTART_AFTER_MS = 500
const WORKER = new URL('./worker.ts', import.meta.url)
const ABSENT: Readonly<Record<Absence, string>> = {
  ended: 'The database’s thread has ended.',
  restarting: 'The database is being opened again.',
  closed: 'The database is closed.',
}

/** Input of `startDatabaseThread`. */
export interface DatabaseThreadOptions {
  readonly file: string
  /** Tables of the file; default `accounts`. */
  readonly tables?: TableSetName | undefined
  readonly log: Log
  /** The thread's program; tests give a broken one. */
  readonly program?: URL | undefined
}

/** A thread with a database, which commits one group of commands at a time. */
export type DatabaseThread = ThreadHost<Group, readonly Outcome[]>

/** Starts the thread; rejects with the fault of the database. */
export async function startDatabaseThread(options: DatabaseThreadOptions): Promise<DatabaseThread> {
  const { file, tables = 'accounts', log, program = WORKER } = options
  const thread: DatabaseThread = new ThreadHost({
    program,
    start: { file, tables } satisfies WorkerStart,
    restartAfterMs: RESTART_AFTER_MS,
    absent: (why) => unavailable(ABSENT[why]),
    toError: (fault) => toError(fault as Fault), // safe: the worker sends nothing else
    onError: (error) => log.error({ reason: messageOf(error) }, 'store.thread-failed'),
    onRestart(error) {
      if (error === undefined) log.warn({}, 'store.thread-restarted')
      else log.error({ reason: messageWithCause(error) }, 'store.failed')
    },
  })
  try {
    await thread.start()
    return thread
  } catch (error) {
    await thread.close()
    throw error
  }
}
