import type { ByteStore, ByteStores } from '../../core/ports/byte-store.ts'
import type { Log } from '../../core/ports/log.ts'
import { withDeadline } from './deadline.ts'
import { memoryStore } from './memory.ts'
import type { RedisSpace } from './redis.ts'

/**
 * DESIGN — byte stores
 *
 * A bounded map in memory, or Keyv over Redis when `REDIS_URL` is set. A hanging store must not slow
 * requests down: every operation has a deadline, and after a failure the store rejects at once for a second, so that
 * an outage costs one deadline a second and not one a request. The cool-down uses a monotonic clock.
 */
const REST_AFTER_FAILURE_MS = 1000

/** Options of byte stores. */
export interface ByteStoresOptions {
  readonly redisUrl: string | undefined
  readonly log: Log
}

/** Opens byte stores; `close` disconnects the shared engine. */
export async function createByteStores({
  redisUrl,
  log,
}: ByteStoresOptions): Promise<ByteStores & { close(): Promise<void> }> {
  // Only when it is used: the client has a class that extends String, and from then on V8 looks up every property of
  // every string the slow way (five times the time for a scan of a large body).
  const redis = redisUrl === undefined ? undefined : await import('./redis.ts')
  const opened = new Map<string, ByteStore>()
  const closers: (() => Promise<void>)[] = []
  const openStore = (namespace: string, maxBytes: number): ByteStore => {
    if (redis === undefined || redisUrl === undefined) return memoryStore(maxBytes)
    const space = redis.connectRedis(redisUrl, namespace, log)
    closers.push(() => space.disconnect())
    return guarded(space)
  }
  return {
    open(namespace, { maxBytes }) {
      const existing = opened.get(namespace)
      if (existing !== undefined) return existing
      const store = openStore(namespace, maxBytes)
      opened.set(namespace, store)
      return store
    },
    async close() {
      await Promise.allSettled(closers.map((close) => close()))
    },
  }
}

function guarded({ keyv, leases, report }: RedisSpace): ByteStore {
  let restUntilMs = 0
  const attempt = async <T>(operation: () => Promise<T>): Promise<T> => {
    if (performance.now() < restUntilMs) throw new Error('the store failed a moment ago')
    try {
      return await withDeadline(operation(), { onLate: report })
    } catch (error) {
      restUntilMs = performance.now() + REST_AFTER_FAILURE_MS
      throw error
    }
  }
  return {
    get: (key) => attempt(async () => bytesOf(await keyv.get(key))),
    set: async (key, value, ttlMs) => void (await attempt(() => keyv.set(key, value, ttlMs))),
    delete: async (key) => void (await attempt(() => keyv.delete(key))),
    leases: {
      take: (name, ttlMs) => attempt(() => leases.take(name, ttlMs)),
      renew: (name, ttlMs) => attempt(() => leases.renew(name, ttlMs)),
      release: (name) => attempt(() => leases.release(name)),
    },
  }
}

/** Returns the stored bytes; garbage on the connection may look like a reply, and other programs may use the same names. */
function bytesOf(value: unknown): Buffer | undefined {
  if (value === undefined || Buffer.isBuffer(value)) return value
  throw new Error('the store gave no bytes')
}
