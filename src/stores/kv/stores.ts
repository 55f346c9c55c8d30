import KeyvRedis, { createClient } from '@keyv/redis'
import Keyv from 'keyv'
import { messageOf } from '../../core/errors.ts'
import type { ByteStore, ByteStores, Clock, Log } from '../../core/ports.ts'
import { createBoundedMap } from './memory.ts'

/**
 * DESIGN — byte stores
 *
 * Keyv over a bounded map in memory, or over Redis when `REDIS_URL` is set. A store that does not answer must not slow
 * requests down: every operation has a deadline, and after a failure the store rejects at once for a second, so that
 * an outage costs one deadline a second and not one a request.
 */
const DEADLINE_MS = 250
const REST_AFTER_FAILURE_MS = 1000

/** What byte stores are made from. */
export interface ByteStoresOptions {
  readonly redisUrl: string | undefined
  readonly log: Log
  readonly clock: Clock
}

/** Opens byte stores; `close` disconnects the shared engine. */
export function createByteStores({ redisUrl, log, clock }: ByteStoresOptions): ByteStores & { close(): Promise<void> } {
  const opened = new Map<string, ByteStore>()
  const closers: (() => Promise<void>)[] = []
  const openShared = (url: string, namespace: string): ByteStore => {
    const keyv = connectRedis(url, namespace, log)
    closers.push(() => keyv.disconnect())
    return guarded(keyv, clock)
  }
  return {
    open(namespace, { maxBytes }) {
      const existing = opened.get(namespace)
      if (existing !== undefined) return existing
      const store = redisUrl === undefined ? memoryStore(maxBytes) : openShared(redisUrl, namespace)
      opened.set(namespace, store)
      return store
    },
    async close() {
      await Promise.allSettled(closers.map((close) => close()))
    },
  }
}

function memoryStore(maxBytes: number): ByteStore {
  // Values stay Buffers: Keyv's default serialisation would turn them into base64 inside JSON.
  const keyv = new Keyv<Buffer>({ store: createBoundedMap(maxBytes), useKeyPrefix: false, throwOnErrors: true })
  keyv.serialize = undefined
  keyv.deserialize = undefined
  return {
    get: (key) => keyv.get(key),
    set: async (key, value, ttlMs) => void (await keyv.set(key, value, ttlMs)),
    delete: async (key) => void (await keyv.delete(key)),
  }
}

function connectRedis(url: string, namespace: string, log: Log): Keyv<Buffer> {
  const client = createClient({
    url,
    // Queueing commands while disconnected would hold requests back; they are to fail at once.
    disableOfflineQueue: true,
    socket: { connectTimeout: 2000, reconnectStrategy: (retries) => Math.min(100 * 2 ** retries, 3000) },
  })
  const engine = new KeyvRedis<Buffer>(client, {
    throwOnConnectError: false,
    throwOnErrors: true,
    noNamespaceAffectsAll: false,
  })
  const keyv = new Keyv<Buffer>({ store: engine, namespace: `turnpike:${namespace}`, throwOnErrors: true })
  const report = (error: unknown) => log.warn({ namespace, reason: messageOf(error) }, 'store.failed')
  keyv.on('error', report)
  return keyv
}

function guarded(keyv: Keyv<Buffer>, clock: Clock): ByteStore {
  let restUntilMs = 0
  const attempt = async <T>(operation: () => Promise<T>): Promise<T> => {
    if (clock.nowMs() < restUntilMs) throw new Error('the store failed a moment ago')
    try {
      return await withDeadline(operation())
    } catch (error) {
      restUntilMs = clock.nowMs() + REST_AFTER_FAILURE_MS
      throw error
    }
  }
  return {
    get: (key) => attempt(() => keyv.get(key)),
    set: async (key, value, ttlMs) => void (await attempt(() => keyv.set(key, value, ttlMs))),
    delete: async (key) => void (await attempt(() => keyv.delete(key))),
  }
}

async function withDeadline<T>(work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`the store did not answer within ${DEADLINE_MS} ms`)), DEADLINE_MS)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
