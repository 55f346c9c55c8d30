import { createClient, ErrorReply } from '@redis/client'
import { messageOf } from '../core/errors.ts'
import type { Log } from '../core/ports/log.ts'
import { hostOf } from '../core/system/host-of.ts'
import { renewConnection } from '../core/system/renew-connection.ts'

/*
 * DESIGN. This file is imported only when a Redis is configured: `@redis/client` has a class that extends `String`, and once
 * such a class exists, V8 (as of Node 26) looks up properties of every string in the process the slow way. The scan of a
 * large body then takes five times as long.
 */

/** Watch over an open connection, in milliseconds. */
export interface Pings {
  /** Default 2,000. */
  readonly everyMs: number
  /** A connection silent for this time is closed. Longer than the interval; default 5,000. */
  readonly silentMs: number
}

const PINGS: Pings = { everyMs: 2000, silentMs: 5000 }
/** Unreachable hosts, by log: the clients of a gateway share it, and an outage is logged once. */
const outages = new WeakMap<Log, Set<string>>()

/**
 * Creates a client, not connected yet, that fails at once while disconnected, and reconnects by itself. Logs
 * `store.failed` with the host when an outage begins, also at the start, and `store.recovered` when it ends.
 */
export function createRedisClient(url: string, log: Log, { everyMs, silentMs } = PINGS) {
  const host = hostOf(url)
  const unreachable = outages.get(log) ?? new Set()
  outages.set(log, unreachable)
  const client = createClient({
    url,
    // Queueing commands while disconnected would hold requests back; they are to fail at once.
    disableOfflineQueue: true,
    pingInterval: everyMs,
    socket: {
      connectTimeout: 2000,
      socketTimeout: silentMs,
      reconnectStrategy: (retries) => Math.min(100 * 2 ** retries, 3000),
    },
  })
  client.on('error', (error: unknown) => {
    if (!unreachable.has(host)) log.warn({ store: 'redis', host, reason: reasonOf(error) }, 'store.failed')
    unreachable.add(host)
    // A late reply, or garbage, on an open connection.
    if (!(error instanceof ErrorReply)) renewConnection(client)
  })
  client.on('ready', () => {
    if (unreachable.delete(host)) log.info({ store: 'redis', host }, 'store.recovered')
  })
  return client
}

/** Reports a late or malformed reply: it is logged as an outage, and the connection is replaced. */
export function reportFault(client: ReturnType<typeof createRedisClient>, error: Error): void {
  client.emit('error', error)
}

/** Returns the reason: a connection tried on several addresses has one error for each, and no message of its own. */
function reasonOf(error: unknown): string {
  return error instanceof AggregateError ? error.errors.map(messageOf).join('; ') : messageOf(error)
}
