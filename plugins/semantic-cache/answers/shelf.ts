import type { Listed } from './file/protocol.ts'

/** All answers of all instances, for operators. */
export interface Shelf {
  /** The engine's name. */
  readonly engine: 'local' | 'redis'
  /** Gives all answers, portion by portion. */
  list(take: (found: readonly Listed[]) => void): Promise<void>
  /** Forgets the answers whose keys begin so, all for an empty prefix; gives how many. */
  evict(prefix: string): Promise<number>
  close(): Promise<void>
}
