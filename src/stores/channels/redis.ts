import { messageOf } from '../../core/errors.ts'
import type { Channel } from '../../core/ports/channel.ts'
import type { Log } from '../../core/ports/log.ts'
import { withDeadline } from '../kv/deadline.ts'
import { createRedisClient, type Pings, reportFault } from '../redis-client.ts'

/** Time-out of a command; no request waits for it. */
const DEADLINE_MS = 2000

/** Creates a channel through Redis. During an outage nothing can be sent; subscriptions are restored afterwards. */
export function redisChannel(url: string, log: Log, pings?: Pings): Channel {
  // Redis keeps keys of its databases apart, but not what is published.
  const nameOf = (topic: string) => `turnpike:${new URL(url).pathname.slice(1) || '0'}:${topic}`
  const speaker = createRedisClient(url, log, pings)
  // A connection that listens can do nothing else.
  const ear = createRedisClient(url, log, pings)
  const listeners = new Map<string, (text: string) => void>()
  const listen = (topic: string, listener: (text: string) => void) => {
    ear
      .subscribe(nameOf(topic), listener)
      .catch((error: unknown) => log.warn({ reason: messageOf(error) }, 'channel.not-heard'))
  }
  // The client restores subscriptions, including those ended before the connection broke; a repeated message is harmless.
  ear.on('ready', () => {
    for (const [topic, listener] of listeners) listen(topic, listener)
  })
  for (const client of [speaker, ear]) client.connect().catch(() => {}) // reported; it retries
  return {
    publish: (topic, text) =>
      withDeadline(speaker.publish(nameOf(topic), text), {
        deadlineMs: DEADLINE_MS,
        onLate: (error) => reportFault(speaker, error),
      }),
    subscribe(topic, listener) {
      listeners.set(topic, listener)
      if (ear.isReady) listen(topic, listener)
    },
    async close() {
      speaker.destroy()
      ear.destroy()
    },
  }
}
