import { messageOf } from '../../core/errors.ts'
import { type Interval, startInterval } from '../../core/interval.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { KeyStore } from '../../core/ports/keys.ts'
import type { Log } from '../../core/ports/log.ts'

const FLUSH_EVERY_MS = 30_000
const FLUSHED_AT_ONCE = 500
/** Keys whose use waits to be written; further uses are dropped until there is room. */
const MOST_WAITING = 50_000

/** Dependencies of `LastUsed`. */
export interface LastUsedOptions {
  readonly store: Pick<KeyStore, 'touch'>
  readonly clock: Clock
  readonly log: Log
}

/** Records when keys were last used, and writes it periodically: a request does not wait for that. */
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

  /** Records a use of a key. */
  note(keyId: string): void {
    if (this.#waiting.size >= MOST_WAITING && !this.#waiting.has(keyId)) return
    this.#waiting.set(keyId, this.#options.clock.nowMs())
  }

  /** Returns the later of the stored time and this instance's waiting one. */
  latest(keyId: string, writtenAtMs: number | null): number | null {
    const waiting = this.#waiting.get(keyId)
    return waiting === undefined ? writtenAtMs : Math.max(waiting, writtenAtMs ?? 0)
  }

  /** Writes waiting uses. */
  async flush(): Promise<void> {
    for (;;) {
      const uses = [...this.#waiting].slice(0, FLUSHED_AT_ONCE)
      if (uses.length === 0) return
      await this.#options.store.touch(uses)
      for (const [id, atMs] of uses) if (this.#waiting.get(id) === atMs) this.#waiting.delete(id)
    }
  }

  /** Stops the timer and writes the remaining uses. */
  async close(): Promise<void> {
    await this.#interval.close()
    await this.#interval.run()
  }
}
