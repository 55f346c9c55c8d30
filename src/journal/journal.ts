import type { Log } from '../core/ports/log.ts'

/**
 * DESIGN: work that follows replies, done for many at once
 *
 *   a reply has ended ──► add ──► waiting ──100 pieces, 16 MB, or 10 ms──► one after another
 *                                    ▲
 *                    reads of what the work records: flush
 *
 * Purpose: receipt, row, metrics, log line, captured bodies and cache entry of a request run much code once. Between the
 * code of other requests it has left the processor's caches, and costs twice as much as for 25 requests in a row.
 * Guarantees: each piece of work runs once, in the order in which it was added; one that throws takes no other along, and is
 * logged; after `close` work runs at once.
 * Limits: a process that is killed loses the work that waits.
 */

/** The work of 25 replies or more: a longer batch would delay other requests by over two milliseconds, and gains little. */
const MOST_WAITING = 100
/** Bodies that waiting work keeps in memory; the pieces of one reply count the same bodies. */
const MOST_BYTES = 16 * 1024 * 1024
const MOMENT_MS = 10

/** Runs the work that follows replies in batches. */
export class Journal {
  readonly #log: Log
  #waiting: (() => void)[] = []
  #bytes = 0
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(log: Log) {
    this.#log = log
  }

  /** Adds work that no reply waits for. `bytes`: size of the bodies that it keeps in memory. */
  add(work: () => void, bytes = 0): void {
    this.#waiting.push(work)
    this.#bytes += bytes
    if (this.#isClosed || this.#waiting.length >= MOST_WAITING || this.#bytes >= MOST_BYTES) this.flush()
    else this.#timer ??= setTimeout(() => this.flush(), MOMENT_MS)
  }

  /** Runs the work that waits. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const works = this.#waiting
    this.#waiting = []
    this.#bytes = 0
    for (const work of works) this.#run(work)
  }

  close(): void {
    this.#isClosed = true
    this.flush()
  }

  #run(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#log.error({ err: error }, 'journal.work-failed')
    }
  }
}
