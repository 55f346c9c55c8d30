import { hash } from 'node:crypto'
import { messageOf } from '../../core/errors.ts'
import type { ByteStore } from '../../core/ports/byte-store.ts'
import type { Log } from '../../core/ports/log.ts'
import type { Reply } from '../../core/reply/reply.ts'
import { packReply, type StoredReply, unpackReply } from '../../core/reply/stored-reply.ts'
import { TransientMap } from '../../core/transient-map.ts'

/** Identity of a repeated request: all three must be the same. */
export interface Repetition {
  readonly challengeId: string
  readonly tokenHash: string
  /** The client's own `Idempotency-Key`. */
  readonly key: string
}

/** Longest time in the cache; bounded by bytes, too: a reply may be evicted sooner. */
const KEPT_MS = 60 * 60_000
/** Longer replies are not stored. */
const LONGEST_BYTES = 1024 * 1024

/** Stores replies to requests with an `Idempotency-Key`, so that a retry receives the same reply. */
export class DeliveredAnswers {
  readonly #store: ByteStore
  readonly #log: Log
  /** In-flight streams, by their key in the store. */
  readonly #running = new TransientMap<Promise<void>>()

  constructor(store: ByteStore, log: Log) {
    this.#store = store
    this.#log = log
  }

  /** Stores a reply, a stream after its complete end; `facts` are headers that go with it. Never throws. */
  async keep(repetition: Repetition, reply: Reply, facts: Readonly<Record<string, string>>): Promise<void> {
    const place = placeOf(repetition)
    const { dialect } = reply
    if (reply.kind === 'bytes')
      return this.#put(place, { kind: 'json', dialect: dialect.name, facts, usage: reply.usage, body: reply.bytes })
    const portions: Buffer[] = []
    let size = 0
    reply.onPortion((portion) => {
      size += portion.length
      if (size <= LONGEST_BYTES) portions.push(portion)
      else portions.length = 0
    })
    const ended = reply.ended.then(async ({ outcome, usage }) => {
      if (outcome !== 'complete' || size > LONGEST_BYTES) return
      await this.#put(place, {
        kind: 'stream',
        dialect: dialect.name,
        facts,
        usage,
        body: Buffer.concat(portions, size),
      })
    })
    this.#running.set(place, ended)
    void ended.finally(() => this.#running.delete(place))
  }

  /** Returns the stored reply; waits for an in-flight one. */
  async find(repetition: Repetition): Promise<StoredReply | undefined> {
    const place = placeOf(repetition)
    await this.#running.get(place)
    const packed = await this.#store.get(place).catch(() => undefined)
    return packed && unpackReply(packed)
  }

  async #put(place: string, answer: StoredReply): Promise<void> {
    if (answer.body.length > LONGEST_BYTES) return
    await this.#store.set(place, packReply(answer), KEPT_MS).catch((error: unknown) => {
      this.#log.warn({ reason: messageOf(error) }, 'payment.answer-not-kept')
    })
  }
}

function placeOf({ challengeId, tokenHash, key }: Repetition): string {
  return hash('sha256', JSON.stringify([challengeId, tokenHash, key]), 'base64url')
}
