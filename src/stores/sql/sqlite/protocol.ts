import type { FromThread, ToThread } from '../../../core/system/thread-host.ts'
import type { TableSetName } from '../migrations.ts'
import type { Group, Outcome } from './group.ts'

/** What the thread is started with. */
export interface WorkerStart {
  readonly file: string
  /** What the file holds. */
  readonly tables: TableSetName
}

/** Messages to the thread: a group of commands, after the one before was answered. */
export type ToWorker = ToThread<Group>

/** Messages of the thread: the outcomes of each group, in its order. */
export type FromWorker = FromThread<readonly Outcome[]>
