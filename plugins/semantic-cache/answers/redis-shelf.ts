import { createClient } from '@redis/client'
import type { ByteStore } from 'turnpike/plugin/cache'
import { abortable } from 'turnpike/plugin/thread'
import type { Shelf } from './shelf.ts'

const DEADLINE_MS = 5000
const SCAN_COUNT = 100

/** Opens the answers that instances share in Redis. Keys are found with SCAN; values are read through the byte store. */
export async function openRedisShelf(
  url: string,
  { namespace, store }: { readonly namespace: string; readonly store: ByteStore },
): Promise<Shelf> {
  const client = createClient({ url, socket: { connectTimeout: DEADLINE_MS, reconnectStrategy: false } })
  client.on('error', () => {}) // in-flight commands reject with it
  const onTimeout = () => new Error(`Redis did not answer within ${DEADLINE_MS} ms`)
  const within = <T>(work: Promise<T>): Promise<T> => abortable(work, { timeoutMs: DEADLINE_MS, onTimeout })
  await within(client.connect())
  // The byte store prefixes each key with its namespace; keys of answers have no colon, and this namespace has no leases.
  const query = { MATCH: `turnpike:${namespace}:*`, COUNT: SCAN_COUNT }
  const eachName = async (work: (name: string, key: string) => Promise<void>): Promise<void> => {
    let cursor = '0'
    do {
      const found = await within(client.scan(cursor, query))
      cursor = String(found.cursor)
      for (const name of found.keys.map(String)) await work(name, name.slice(name.lastIndexOf(':') + 1))
    } while (cursor !== '0')
  }
  return {
    engine: 'redis',
    list: (take) =>
      eachName(async (name, key) => {
        const head = await store.get(key)
        const expiresAtMs = Date.now() + (await within(client.pTTL(name)))
        if (head !== undefined) take([{ key, head, bytes: head.length, expiresAtMs }])
      }),
    async evict(prefix) {
      let count = 0
      await eachName(async (name, key) => {
        if (key.startsWith(prefix)) count += await within(client.unlink(name))
      })
      return count
    },
    close: async () => client.destroy(),
  }
}
