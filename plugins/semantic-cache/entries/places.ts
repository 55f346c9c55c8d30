import type { ByteStore, ByteStores, Clock, Log, SharedEngines } from 'turnpike/plugin'
import type { EntryBook } from './book.ts'
import { LocalBook } from './local/local-book.ts'
import { tieredStore } from './tiered-store.ts'

/** What decides where things are kept. */
export interface PlacesOptions {
  readonly persist: boolean
  /** Bounds the file of a machine. */
  readonly max_disk: number
  readonly max_memory: number
}

/** What places are opened with. */
export interface PlaceServices {
  readonly folder: string
  readonly engines: SharedEngines
  readonly stores: ByteStores
  readonly clock: Clock
  readonly log: Log
}

/** Where entries and replies live. */
export interface Places {
  /** `undefined`: in memory alone. */
  readonly book: EntryBook | undefined
  readonly replies: ByteStore
}

/** Gets ready to open Redis when instances share one, else a file of the machine, else memory alone. */
export async function preparePlaces(options: PlacesOptions, services: PlaceServices): Promise<() => Places> {
  const { folder, engines, stores, clock, log } = services
  const { redisUrl: url } = engines
  const openReplies = () => stores.open('semantic-cache', { maxBytes: options.max_memory })
  if (url !== undefined) {
    // Only when it is used: what its client does to strings slows the whole process.
    const { RedisBook } = await import('./redis/redis-book.ts')
    return () => ({ book: new RedisBook({ url, clock, log }), replies: openReplies() })
  }
  if (!options.persist) return () => ({ book: undefined, replies: openReplies() })
  return () => {
    const book = new LocalBook({ folder, maxBytes: options.max_disk, clock, log })
    return { book, replies: tieredStore(openReplies(), book.replies()) }
  }
}
