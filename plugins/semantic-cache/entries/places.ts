import { setTimeout as sleep } from 'node:timers/promises'
import type { ByteStore, ByteStores, Clock, Log, SharedEngines } from 'turnpike/plugin'
import type { EntryBook } from './book.ts'
import { LocalBook } from './local/local-book.ts'
import type { Candidates } from './postgres/candidates.ts'
import { prefixedStore, tieredStore } from './tiered-store.ts'

/** A database that does not answer at the start is taken for one that will. */
const ANSWERS_WITHIN_MS = 2000
const MOST_SERVED_BYTES = 8 * 1024 * 1024

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
  /** What was given to whom. */
  readonly served: ByteStore
  /** Who can look through scopes that are too large for memory. */
  readonly candidates?: Candidates
}

/**
 * Gets ready to open Redis when instances share one, else PostgreSQL when it has `vector`, else a file of the machine, else
 * memory alone. Nothing is connected to before it is opened.
 */
export async function preparePlaces(options: PlacesOptions, services: PlaceServices): Promise<() => Promise<Places>> {
  const { redisUrl: url, databaseUrl } = services.engines
  if (url !== undefined) {
    // Only when it is used: what its client does to strings slows the whole process.
    const { RedisBook } = await import('./redis/redis-book.ts')
    return async () => ({ book: new RedisBook({ url, ...services }), ...memoryOf(options, services) })
  }
  if (!options.persist) return async () => ({ book: undefined, ...memoryOf(options, services) })
  return async () =>
    (databaseUrl && (await openPostgres(databaseUrl, options, services))) || openLocal(options, services)
}

/** `undefined`, and one line in the log, when entries cannot be kept there. */
async function openPostgres(url: string, options: PlacesOptions, services: PlaceServices): Promise<Places | undefined> {
  const [{ PostgresBook }, { refusalOf }] = await Promise.all([
    import('./postgres/postgres-book.ts'),
    import('./postgres/tables.ts'),
  ])
  const book = new PostgresBook({ url, maxBytes: options.max_disk, ...services })
  const late = sleep(ANSWERS_WITHIN_MS, undefined, { ref: false })
  const reason = await Promise.race([book.prepare(), late]).then(() => undefined, refusalOf)
  if (reason === undefined) {
    return { book, candidates: book.candidates, ...inFrontOf(book.replies(), options, services) }
  }
  services.log.warn({ reason, instead: 'local' }, 'entries.postgres-refused')
  await book.close()
  return undefined
}

function openLocal(options: PlacesOptions, services: PlaceServices): Places {
  const book = new LocalBook({ maxBytes: options.max_disk, ...services })
  return { book, ...inFrontOf(book.replies(), options, services) }
}

type ByteStoresOfPlaces = Pick<Places, 'replies' | 'served'>

/** Of the stores of the gateway: in the memory of the process, or in Redis. */
function memoryOf({ max_memory }: PlacesOptions, { stores }: PlaceServices): ByteStoresOfPlaces {
  return {
    replies: stores.open('semantic-cache', { maxBytes: max_memory }),
    served: stores.open('semantic-cache-served', { maxBytes: MOST_SERVED_BYTES }),
  }
}

function inFrontOf(lasting: ByteStore, options: PlacesOptions, services: PlaceServices): ByteStoresOfPlaces {
  const { replies, served } = memoryOf(options, services)
  return { replies: tieredStore(replies, lasting), served: tieredStore(served, prefixedStore(lasting, 'served ')) }
}
