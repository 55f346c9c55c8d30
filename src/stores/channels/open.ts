import cluster from 'node:cluster'
import type { Channel } from '../../core/ports/channel.ts'
import type { Log } from '../../core/ports/log.ts'
import { workerChannel } from './workers.ts'

/** Opens the channel to the other processes of this gateway; `undefined` where this one is alone, or knows of no other. */
export async function openChannel({
  redisUrl,
  log,
}: {
  redisUrl: string | undefined
  log: Log
}): Promise<Channel | undefined> {
  if (redisUrl === undefined) return cluster.isWorker ? workerChannel() : undefined
  // Only when it is used: see stores/kv/stores.ts.
  const { redisChannel } = await import('./redis.ts')
  return redisChannel(redisUrl, log)
}
