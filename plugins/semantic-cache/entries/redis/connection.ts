import { createClient, RESP_TYPES } from '@redis/client'
import type { Log } from 'turnpike/plugin'

/** More is refused: while Redis hangs, what waits for it must not fill the memory. */
const MOST_WAITING = 20_000

/** Values as bytes. */
export const BUFFERS = { [RESP_TYPES.BLOB_STRING]: Buffer }

/** A connection that fails at once while there is none, and is made again by itself. */
export type Client = ReturnType<typeof connect>

/** Connects in the background. */
export function connect(url: string, log: Log) {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    commandsQueueMaxLength: MOST_WAITING,
    socket: { connectTimeout: 2000, reconnectStrategy: (retries) => Math.min(100 * 2 ** retries, 3000) },
  })
  client.on('error', (error: Error) => log.warn({ namespace: 'semantic-cache', reason: error.message }, 'store.failed'))
  client.connect().catch(() => {}) // told by the listener above; it goes on trying
  return client
}

/** Rejects when Redis takes longer than `ms`. */
export async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`Redis did not answer within ${ms} ms`)), ms)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
