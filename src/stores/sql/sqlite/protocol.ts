import type { Fault } from '../engine/faults.ts'
import type { TableSetName } from '../migrations.ts'
import type { Group, Outcome } from './group.ts'

/** What the thread is started with. */
export interface WorkerStart {
  readonly file: string
  /** What the file holds. */
  readonly tables: TableSetName
}

/** What the thread is asked. The next group is sent when the one before is answered. */
export type ToWorker = { readonly kind: 'group'; readonly group: Group } | { readonly kind: 'close' }

/** What the thread says: first whether it could open the database, then the outcomes of each group. */
export type FromWorker =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly fault: Fault }
  | { readonly kind: 'outcomes'; readonly outcomes: readonly Outcome[] }
