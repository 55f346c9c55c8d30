import type { Log } from 'turnpike/plugin'
import type { ByteStore } from 'turnpike/plugin/cache'
import { type Answer, packAnswer, unpackAnswer } from './answer.ts'

/** Answers by key, wherever they are kept. When the store fails, requests go on as if nothing had been cached. */
export class Answers {
  readonly #store: ByteStore
  readonly #log: Log

  constructor(store: ByteStore, log: Log) {
    this.#store = store
    this.#log = log
  }

  /** The answer under a key, if there is one. */
  async get(key: string): Promise<Answer | 'unreachable' | undefined> {
    try {
      const bytes = await this.#store.get(key)
      return bytes && unpackAnswer(bytes)
    } catch (error) {
      this.#report(error)
      return 'unreachable'
    }
  }

  /** Keeps an answer for `ttlMs`; gives whether it is there now. */
  async set(key: string, answer: Answer, ttlMs: number): Promise<boolean> {
    try {
      await this.#store.set(key, packAnswer(answer), ttlMs)
      return true
    } catch (error) {
      this.#report(error)
      return false
    }
  }

  /** Forgets an answer, on all instances that share the store. */
  async delete(key: string): Promise<void> {
    await this.#store.delete(key).catch(this.#report)
  }

  #report = (error: unknown): void => {
    this.#log.debug({ err: error }, 'cache.unreachable')
  }
}
