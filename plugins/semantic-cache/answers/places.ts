import type { Clock, Log } from 'turnpike/plugin'
import type { ByteStore, ByteStores, SharedEngines } from 'turnpike/plugin/cache'
import { FileStore } from './file/store.ts'
import type { Shelf } from './shelf.ts'

/** Namespace in the gateway's byte stores. */
const NAMESPACE = 'semantic-cache'

/** Options that select the store. */
export interface PlacesOptions {
  readonly persist: boolean
  /** Bound of the machine's file. */
  readonly max_disk: number
  readonly max_memory: number
}

/** Dependencies of a store. */
export interface PlaceServices {
  readonly folder: string
  readonly engines: SharedEngines
  readonly stores: ByteStores
  readonly clock: Clock
  readonly log: Log
}

/** Opened store of answers. */
export interface Place {
  readonly engine: 'redis' | 'local' | 'memory'
  readonly store: ByteStore
  close(): Promise<void>
}

/** Opens Redis when instances share one, else a file of the machine, else the memory of the process. */
export function openPlace({ persist, max_disk, max_memory }: PlacesOptions, services: PlaceServices): Place {
  const isShared = services.engines.redisUrl !== undefined
  if (persist && !isShared) {
    const store = new FileStore({ maxBytes: max_disk, ...services })
    return { engine: 'local', store, close: () => store.close() }
  }
  const store = services.stores.open(NAMESPACE, { maxBytes: max_memory })
  return { engine: isShared ? 'redis' : 'memory', store, close: async () => {} }
}

/** Opens the same for a command; `undefined` when answers are only in the memory of each gateway. */
export async function openShelf(
  { persist, max_disk }: PlacesOptions,
  services: PlaceServices,
): Promise<Shelf | undefined> {
  const { redisUrl } = services.engines
  if (redisUrl !== undefined) {
    const { openRedisShelf } = await import('./redis-shelf.ts')
    const store = services.stores.open(NAMESPACE, { maxBytes: 0 })
    return openRedisShelf(redisUrl, { namespace: NAMESPACE, store })
  }
  return persist ? new FileStore({ maxBytes: max_disk, ...services }) : undefined
}
