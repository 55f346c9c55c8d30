import cluster from 'node:cluster'
import type { Channel } from '../../core/ports/channel.ts'
import type { Log } from '../../core/ports/log.ts'
import { workerChannel } from './workers.ts'

/** Opens the channel to the other workers on this port; `undefined` where this process is alone. */
export function openWorkerChannel(): Channel | undefined {
  return cluster.isWorker ? workerChannel() : undefined
}

/** Opens the channel to all instances that share a Redis. */
export async function openRedisChannel(redisUrl: string, log: Log): Promise<Channel> {
  // Only when it is used: see stores/kv/stores.ts.
  const { redisChannel } = await import('./redis.ts')
  return redisChannel(redisUrl, log)
}
