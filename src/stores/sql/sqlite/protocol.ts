import type { FromThread, ToThread } from '../../../core/system/thread-host.ts'
import type { TableSetName } from '../migrations.ts'
import type { Group, Outcome } from './group.ts'

/** Start parameters of the thread. */
export interface WorkerStart {
  readonly file: string
  /** Tables of the file. */
  readonly tables: TableSetName
}

/** Messages to the thread: a group of commands, after the reply to the one before. */
export type ToWorker = ToThread<Group>

/** Messages of the thread: the outcomes of each group, in its order. */
export type FromWorker = FromThread<readonly Outcome[]>
