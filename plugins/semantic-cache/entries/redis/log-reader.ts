import { type Log, renewConnection } from 'turnpike/plugin'
import type { Follower } from '../book.ts'
import { unpackFact } from '../fact.ts'
import { BUFFERS, type Client, within } from './connection.ts'

const BLOCK_MS = 1000
/** Longer than it blocks: then Redis hangs. */
const SILENT_MS = 2000
const PORTION = 500
const RETRY_AFTER_MS = 200
const START_WITHIN_MS = 250

/** Follows the log of facts on a connection of its own, from where it is when the connection is there. */
export class LogReader {
  readonly #client: Client
  readonly #key: string
  readonly #log: Log
  #follower: Follower | undefined
  /** Where it has read to; `undefined` while it does not follow. */
  #position: string | undefined
  #hasFollowed = false
  readonly #following = Promise.withResolvers<void>()
  #isClosed = false
  #running: Promise<void> | undefined

  constructor(client: Client, { key, log }: { key: string; log: Log }) {
    this.#client = client
    this.#key = key
    this.#log = log
  }

  start(follower: Follower): void {
    this.#follower = follower
    this.#running = this.#run()
  }

  /** Resolves when it follows the log, soon after the start, and rejects at once when it has lost it. */
  async assertFollowing(): Promise<void> {
    if (this.#follower === undefined || this.#position !== undefined) return
    if (this.#hasFollowed) throw new Error('Redis does not answer')
    await within(this.#following.promise, START_WITHIN_MS)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#client.destroy()
    await this.#running
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      try {
        await this.#readOn()
      } catch (error) {
        if (this.#isClosed) return
        this.#log.debug({ err: error }, 'entries.unreachable')
        this.#lose()
        await pause()
      }
    }
  }

  async #readOn(): Promise<void> {
    this.#position ??= await this.#end()
    this.#hasFollowed = true
    this.#following.resolve()
    const query = { key: this.#key, id: this.#position }
    const options = { BLOCK: BLOCK_MS, COUNT: PORTION }
    const found = await this.#inTime(this.#client.withTypeMapping(BUFFERS).xRead(query, options))
    const messages = messagesOf(found)
    // Safe to ask now only if more is there than one portion: else the log cannot have moved on.
    if (messages.length === PORTION && (await this.#hasMovedOn(this.#position))) return this.#lose()
    for (const { id, scope, value } of messages) {
      this.#position = id
      const fact = value && unpackFact(value)
      if (fact !== undefined) this.#follower?.onFact({ scope, fact })
      else this.#follower?.onForget(scope === '' ? undefined : scope)
    }
  }

  async #end(): Promise<string> {
    const [last] = await this.#inTime(this.#client.xRevRange(this.#key, '+', '-', { COUNT: 1 }))
    return last === undefined ? '0-0' : String(last.id)
  }

  async #hasMovedOn(position: string): Promise<boolean> {
    const [first] = await this.#inTime(this.#client.xRange(this.#key, '-', '+', { COUNT: 1 }))
    return first === undefined || isAfter(String(first.id), position)
  }

  #inTime<T>(work: Promise<T>): Promise<T> {
    return within(work, SILENT_MS, () => renewConnection(this.#client))
  }

  #lose(): void {
    if (this.#position === undefined) return
    this.#position = undefined
    this.#follower?.onForget(undefined)
  }
}

interface Message {
  readonly id: string
  readonly scope: string
  readonly value: Uint8Array | undefined
}

function messagesOf(found: unknown): Message[] {
  if (found === null) return []
  // Safe: as XREAD answers, with the fields that the book writes.
  const [stream] = found as { messages: { id: unknown; message: { s: unknown; f?: Buffer } }[] }[]
  return (stream?.messages ?? []).map(({ id, message }) => ({
    id: String(id),
    scope: String(message.s),
    value: message.f,
  }))
}

function isAfter(one: string, other: string): boolean {
  const [oneMs = 0, oneNth = 0] = one.split('-').map(Number)
  const [otherMs = 0, otherNth = 0] = other.split('-').map(Number)
  return oneMs > otherMs || (oneMs === otherMs && oneNth > otherNth)
}

async function pause(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  setTimeout(resolve, RETRY_AFTER_MS).unref()
  await promise
}
