import KeyvRedis from '@keyv/redis'
import Keyv from 'keyv'
import { messageOf } from '../../core/errors.ts'
import type { Log } from '../../core/ports.ts'
import { renewConnection } from '../../core/renew-connection.ts'
import { createRedisClient } from '../redis-client.ts'
import { withDeadline } from './deadline.ts'

/** An engine of byte stores on a connection of its own. */
export interface RedisEngine {
  readonly keyv: Keyv<Buffer>
  /** Has the connection replaced, on which an answer is late. */
  renew(): void
  /** What is under way may finish, within the deadline: a server that does not answer must not keep the process alive. */
  disconnect(): Promise<void>
}

/** Connects to Redis in the background; operations fail at once while there is no connection. */
export function connectRedis(url: string, namespace: string, log: Log): RedisEngine {
  const report = (error: unknown) => log.warn({ namespace, reason: messageOf(error) }, 'store.failed')
  const client = createRedisClient(url, () => {}) // Keyv tells of them
  const engine = new KeyvRedis<Buffer>(client, {
    throwOnConnectError: false,
    throwOnErrors: true,
    noNamespaceAffectsAll: false,
  })
  const keyv = new Keyv<Buffer>({ store: engine, namespace: `turnpike:${namespace}`, throwOnErrors: true })
  keyv.on('error', report)
  return {
    keyv,
    renew: () => renewConnection(client),
    disconnect: () => withDeadline(keyv.disconnect()).catch(() => engine.disconnect(true)),
  }
}
