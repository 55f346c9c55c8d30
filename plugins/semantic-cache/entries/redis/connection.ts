import { createClient, ErrorReply, RESP_TYPES } from '@redis/client'
import { abortable, type Log, renewConnection } from 'turnpike/plugin'

/** More is refused: while Redis hangs, what waits for it must not fill the memory. */
const MOST_WAITING = 20_000

/** Longer than between two pings, and than a read of the log blocks: then nothing comes any more. */
const SILENT_MS = 5000
const PING_EVERY_MS = 2000

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
    pingInterval: PING_EVERY_MS,
    socket: {
      connectTimeout: 2000,
      socketTimeout: SILENT_MS,
      reconnectStrategy: (retries) => Math.min(100 * 2 ** retries, 3000),
    },
  })
  client.on('error', (error: Error) => {
    log.warn({ namespace: 'semantic-cache', reason: error.message }, 'store.failed')
    // What is no reply of the server, on a connection that stands, is garbage.
    if (!(error instanceof ErrorReply)) renewConnection(client)
  })
  client.connect().catch(() => {}) // told by the listener above; it goes on trying
  return client
}

/** Rejects when Redis takes longer than `ms`, and calls `onLate` then. */
export function within<T>(work: Promise<T>, ms: number, onLate = () => {}): Promise<T> {
  const onTimeout = () => {
    onLate()
    return new Error(`Redis did not answer within ${ms} ms`)
  }
  return abortable(work, { timeoutMs: ms, onTimeout })
}
