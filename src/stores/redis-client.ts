import { createClient, ErrorReply } from '@redis/client'
import { renewConnection } from '../core/renew-connection.ts'

/** Longer than between two pings: then nothing comes any more, and the connection is given up. */
const SILENT_MS = 5000
const PING_EVERY_MS = 2000

/**
 * Makes a client, not connected yet, that fails at once while it has no connection, and makes one again by itself; `report`
 * is told of its errors.
 */
export function createRedisClient(url: string, report: (error: unknown) => void) {
  const client = createClient({
    url,
    // Queueing commands while disconnected would hold requests back; they are to fail at once.
    disableOfflineQueue: true,
    pingInterval: PING_EVERY_MS,
    socket: {
      connectTimeout: 2000,
      socketTimeout: SILENT_MS,
      reconnectStrategy: (retries) => Math.min(100 * 2 ** retries, 3000),
    },
  })
  client.on('error', (error: unknown) => {
    report(error)
    // What is no reply of the server, on a connection that stands, is garbage.
    if (!(error instanceof ErrorReply)) renewConnection(client)
  })
  return client
}
