import { createClient } from '@redis/client'
import type { Channel } from '../../core/channel.ts'
import { messageOf } from '../../core/errors.ts'
import type { Log } from '../../core/ports.ts'
import { withDeadline } from '../kv/deadline.ts'

const CONNECT_MS = 2000
/** Nobody's request waits for it. */
const DEADLINE_MS = 2000
const LONGEST_PAUSE_MS = 3000

/** A channel through Redis; while that is away nothing can be told, and what was subscribed is again when it is back. */
export function redisChannel(url: string, log: Log): Channel {
  const reconnectStrategy = (retries: number) => Math.min(100 * 2 ** retries, LONGEST_PAUSE_MS)
  const connect = () => {
    const client = createClient({
      url,
      disableOfflineQueue: true,
      socket: { connectTimeout: CONNECT_MS, reconnectStrategy },
    })
    client.on('error', (error: unknown) => log.warn({ namespace: 'channel', reason: messageOf(error) }, 'store.failed'))
    client.connect().catch(() => {}) // told by the listener above; it goes on trying
    return client
  }
  // Redis keeps keys of its databases apart, but not what is published.
  const nameOf = (topic: string) => `turnpike:${new URL(url).pathname.slice(1) || '0'}:${topic}`
  const speaker = connect()
  // A connection that listens can do nothing else.
  const ear = connect()
  const unheard = new Map<string, (text: string) => void>()
  // What was subscribed once the client subscribes again by itself; what never was, it forgets when its connection breaks.
  const subscribeAll = async () => {
    for (const [topic, listener] of unheard) {
      await ear.subscribe(nameOf(topic), listener)
      unheard.delete(topic)
    }
  }
  const subscribeQuietly = () => {
    subscribeAll().catch((error: unknown) => log.warn({ reason: messageOf(error) }, 'channel.not-heard'))
  }
  ear.on('ready', subscribeQuietly)
  return {
    publish: (topic, text) => withDeadline(speaker.publish(nameOf(topic), text), { deadlineMs: DEADLINE_MS }),
    subscribe(topic, listener) {
      unheard.set(topic, listener)
      if (ear.isReady) subscribeQuietly()
    },
    async close() {
      speaker.destroy()
      ear.destroy()
    },
  }
}
