import { messageOf } from '../../core/errors.ts'
import { type Interval, startInterval } from '../../core/interval.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { KeyStore } from '../../core/ports/keys.ts'
import type { Log } from '../../core/ports/log.ts'

const FLUSH_EVERY_MS = 30_000
const FLUSHED_AT_ONCE = 500
/** Keys whose use waits to be written; beyond it uses are forgotten until there is room. */
const MOST_WAITING = 50_000

/** What the moments of last use are kept with. */
export interface LastUsedOptions {
  readonly store: Pick<KeyStore, 'touch'>
  readonly clock: Clock
  readonly log: Log
}

/** Remembers when keys were used last, and writes it down now and then: a request does not wait for that. */
export class LastUsed {
  readonly #options: LastUsedOptions
  readonly #waiting = new Map<string, number>()
  readonly #interval: Interval

  constructor(options: LastUsedOptions) {
    this.#options = options
    this.#interval = startInterval(() => this.flush(), {
      everyMs: FLUSH_EVERY_MS,
      onError: (error) => options.log.warn({ reason: messageOf(error) }, 'keys.last-used-not-written'),
    })
  }

  /** A key is used now. */
  note(keyId: string): void {
    if (this.#waiting.size >= MOST_WAITING && !this.#waiting.has(keyId)) return
    this.#waiting.set(keyId, this.#options.clock.nowMs())
  }

  /** The later of what is written down, and what this instance has still to write. */
  latest(keyId: string, writtenAtMs: number | null): number | null {
    const waiting = this.#waiting.get(keyId)
    return waiting === undefined ? writtenAtMs : Math.max(waiting, writtenAtMs ?? 0)
  }

  /** Writes down what waits. */
  async flush(): Promise<void> {
    for (;;) {
      const uses = [...this.#waiting].slice(0, FLUSHED_AT_ONCE)
      if (uses.length === 0) return
      await this.#options.store.touch(uses)
      for (const [id, atMs] of uses) if (this.#waiting.get(id) === atMs) this.#waiting.delete(id)
    }
  }

  /** Ends the timer and writes down what is left. */
  async close(): Promise<void> {
    await this.#interval.close()
    await this.#interval.run()
  }
}
