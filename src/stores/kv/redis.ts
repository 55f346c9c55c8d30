import KeyvRedis, { createClient } from '@keyv/redis'
import Keyv from 'keyv'
import { messageOf } from '../../core/errors.ts'
import type { Leases, Log } from '../../core/ports.ts'
import { withDeadline } from './deadline.ts'

/** A namespace of a Redis. */
export interface RedisSpace {
  readonly keyv: Keyv<Buffer>
  readonly leases: Leases
}

/** Connects to Redis in the background; operations fail at once while there is no connection. */
export function connectRedis(url: string, namespace: string, log: Log): RedisSpace {
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
  // At once, not with the first request, which would find the store empty and let it rest.
  client.connect().catch(() => {}) // told by the listener above; it goes on trying
  const keyOf = (name: string) => `turnpike:${namespace}:lease:${name}`
  const leases: Leases = {
    take: async (name, ttlMs) => (await client.set(keyOf(name), '', { NX: true, PX: ttlMs })) !== null,
    renew: async (name, ttlMs) => void (await client.pExpire(keyOf(name), ttlMs)),
    release: async (name) => void (await client.del(keyOf(name))),
  }
  return { keyv, leases }
}

/** What is under way may finish, within the deadline: a server that does not answer must not keep the process alive. */
export async function disconnect({ keyv }: RedisSpace): Promise<void> {
  const engine: KeyvRedis<Buffer> = keyv.store
  await withDeadline(keyv.disconnect()).catch(() => engine.disconnect(true))
}
