import type { Listed } from './file/protocol.ts'

/** All answers of all instances, for operators. */
export interface Shelf {
  /** Name of the engine. */
  readonly engine: 'local' | 'redis'
  /** Passes all answers to `take`, in portions. */
  list(take: (found: readonly Listed[]) => void): Promise<void>
  /** Deletes the answers with this key prefix, all for an empty one; returns their number. */
  evict(prefix: string): Promise<number>
  close(): Promise<void>
}
