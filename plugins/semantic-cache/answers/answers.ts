import type { Log } from 'turnpike/plugin'
import type { ByteStore } from 'turnpike/plugin/cache'
import { type Answer, packAnswer, unpackAnswer } from './answer.ts'

/** Answers by key, in any store. When the store fails, requests continue as if the cache were empty. */
export class Answers {
  readonly #store: ByteStore
  readonly #log: Log

  constructor(store: ByteStore, log: Log) {
    this.#store = store
    this.#log = log
  }

  /** Returns the answer of a key, if there is one. */
  async get(key: string): Promise<Answer | 'unreachable' | undefined> {
    try {
      const bytes = await this.#store.get(key)
      return bytes && unpackAnswer(bytes)
    } catch (error) {
      this.#report(error)
      return 'unreachable'
    }
  }

  /** Stores an answer for `ttlMs`; returns whether it succeeded. */
  async set(key: string, answer: Answer, ttlMs: number): Promise<boolean> {
    try {
      await this.#store.set(key, packAnswer(answer), ttlMs)
      return true
    } catch (error) {
      this.#report(error)
      return false
    }
  }

  /** Deletes an answer, on all instances that share the store. */
  async delete(key: string): Promise<void> {
    await this.#store.delete(key).catch(this.#report)
  }

  #report = (error: unknown): void => {
    this.#log.debug({ err: error }, 'cache.unreachable')
  }
}
