import {
  type ByteStore,
  type Exchange,
  factsOf,
  type Log,
  packReply,
  type Reply,
  replyFromStored,
  type StoredReply,
  type StreamReply,
  storedOfBytes,
  unpackReply,
} from 'turnpike/plugin'

/** The replies of entries, by the entry's id. When the store fails, requests go on as if nothing had been cached. */
export class Replies {
  readonly #store: ByteStore
  readonly #log: Log

  constructor(store: ByteStore, log: Log) {
    this.#store = store
    this.#log = log
  }

  /** The reply in the shape that the caller wants; why not, when it is gone, cannot be told in that shape, or not be had. */
  async get(id: string, { dialect, wantsStream }: Exchange): Promise<Reply | 'reply-gone' | 'replies-unreachable'> {
    try {
      const stored = await this.#read(id)
      return (stored && replyFromStored(stored, { dialect, stream: wantsStream })) ?? 'reply-gone'
    } catch (error) {
      this.#tell(error)
      return 'replies-unreachable'
    }
  }

  /** The reply as it is stored, if it is there and can be had. */
  async stored(id: string): Promise<StoredReply | undefined> {
    try {
      return await this.#read(id)
    } catch (error) {
      this.#tell(error)
      return undefined
    }
  }

  /** Forgets a reply, on all instances that share the store. */
  async remove(id: string): Promise<void> {
    await this.#store.delete(id).catch(this.#tell)
  }

  /** Keeps a reply; says whether it is there now. */
  async set(id: string, reply: StoredReply, ttlMs: number): Promise<boolean> {
    try {
      await this.#store.set(id, packReply(reply), ttlMs)
      return true
    } catch (error) {
      this.#tell(error)
      return false
    }
  }

  async #read(id: string): Promise<StoredReply | undefined> {
    const bytes = await this.#store.get(id)
    return bytes && unpackReply(bytes)
  }

  #tell = (error: unknown): void => {
    this.#log.debug({ err: error }, 'cache.unreachable')
  }
}

/**
 * What the provider answers, as it is to be stored: at once for JSON, when it has ended for a stream, which is only
 * watched. `undefined` when there is nothing whole of at most `limitBytes`.
 */
export async function wholeReplyOf(reply: Reply | undefined, limitBytes: number): Promise<StoredReply | undefined> {
  if (reply?.status !== 200) return undefined
  const stored = reply.kind === 'bytes' ? storedOfBytes(reply) : await watchStream(reply, limitBytes)
  return stored !== undefined && stored.body.length <= limitBytes ? stored : undefined
}

async function watchStream(reply: StreamReply, limitBytes: number): Promise<StoredReply | undefined> {
  const portions: Buffer[] = []
  let size = 0
  reply.onPortion((portion) => {
    size += portion.length
    if (size <= limitBytes) portions.push(portion)
    else portions.length = 0
  })
  const { outcome, usage } = await reply.ended
  if (outcome !== 'complete' || size > limitBytes) return undefined
  const { dialect, headers } = reply
  return { kind: 'stream', dialect: dialect.name, facts: factsOf(headers), usage, body: Buffer.concat(portions) }
}
