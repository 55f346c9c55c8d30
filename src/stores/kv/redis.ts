import KeyvRedis from '@keyv/redis'
import Keyv from 'keyv'
import { messageOf } from '../../core/errors.ts'
import type { Leases } from '../../core/ports/byte-store.ts'
import type { Log } from '../../core/ports/log.ts'
import { createRedisClient, reportFault } from '../redis-client.ts'
import { withDeadline } from './deadline.ts'

/** A namespace of a Redis, on a connection of its own. */
export interface RedisSpace {
  readonly keyv: Keyv<Buffer>
  readonly leases: Leases
  /** Logs a late reply and replaces the connection. */
  report(error: Error): void
  /** Disconnects; in-flight operations may finish within the deadline: a hanging server must not keep the process alive. */
  disconnect(): Promise<void>
}

/** Connects to Redis in the background; operations fail at once while there is no connection. */
export function connectRedis(url: string, namespace: string, log: Log): RedisSpace {
  const client = createRedisClient(url, log)
  // An outage is logged by the client.
  const report = (error: unknown) => {
    if (client.isReady) log.warn({ store: 'redis', namespace, reason: messageOf(error) }, 'store.failed')
  }
  const engine = new KeyvRedis<Buffer>(client, {
    throwOnConnectError: false,
    throwOnErrors: true,
    noNamespaceAffectsAll: false,
  })
  const keyv = new Keyv<Buffer>({ store: engine, namespace: `turnpike:${namespace}`, throwOnErrors: true })
  keyv.on('error', report)
  // At once, not with the first request, which would find the store empty and start its cool-down.
  client.connect().catch(() => {}) // logged by the listener above; it retries
  const keyOf = (name: string) => `turnpike:${namespace}:lease:${name}`
  const leases: Leases = {
    take: async (name, ttlMs) => (await client.set(keyOf(name), '', { NX: true, PX: ttlMs })) !== null,
    renew: async (name, ttlMs) => void (await client.pExpire(keyOf(name), ttlMs)),
    release: async (name) => void (await client.del(keyOf(name))),
  }
  return {
    keyv,
    leases,
    report: (error) => reportFault(client, error),
    async disconnect() {
      // A connection that is being opened has nothing in flight; closed, it would first wait for the server's greeting.
      if (client.isReady) return withDeadline(keyv.disconnect()).catch(() => engine.disconnect(true))
      if (client.isOpen) client.destroy()
    },
  }
}
