import type { Log } from '../core/ports/log.ts'

/**
 * DESIGN: work that follows replies, done for many at once
 *
 *   a reply has ended ──► add ──► waiting ──100 pieces, 4 MB, or 10 ms──► one after another
 *                                    ▲
 *                    reads of what the work records: flush
 *
 * Purpose: receipt, row, metrics, log line, captured bodies and cache entry of a request run much code once. After the code
 * of another request the processor has to load it again, so it costs twice as much as for 25 requests in a row.
 * Guarantees: each piece of work runs once, in the order in which it was added; one that throws takes no other along, and is
 * logged; no work runs inside `add`, unless very much waits, or after `close`.
 * Limits: a process that is killed loses the work that waits.
 */

/** The work of 25 replies or more: a longer batch would delay other requests by over two milliseconds, and gains little. */
const FULL = 100
/** Bodies of a batch; the pieces of one reply count the same bodies, which take half a millisecond for 300 KB. */
const FULL_BYTES = 4 * 1024 * 1024
const MOMENT_MS = 10
/** One turn of the event loop may add more than a batch: beyond so many batches, work runs at once. */
const MOST_BATCHES = 4

/** Runs the work that follows replies in batches. */
export class Journal {
  readonly #log: Log
  #waiting: (() => void)[] = []
  #bytes = 0
  #timer: NodeJS.Timeout | undefined
  #immediate: NodeJS.Immediate | undefined
  #isClosed = false

  constructor(log: Log) {
    this.#log = log
  }

  /** Adds work that no reply waits for. `bytes`: size of the bodies that it keeps in memory. */
  add(work: () => void, bytes = 0): void {
    this.#waiting.push(work)
    this.#bytes += bytes
    const batches = Math.max(this.#waiting.length / FULL, this.#bytes / FULL_BYTES)
    if (this.#isClosed || batches >= MOST_BATCHES) this.flush()
    // Not at once: the reply of the request that fills the batch may still be sent.
    else if (batches >= 1) this.#immediate ??= setImmediate(() => this.flush())
    else this.#timer ??= setTimeout(() => this.flush(), MOMENT_MS)
  }

  /** Runs the work that waits. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    clearImmediate(this.#immediate)
    this.#immediate = undefined
    const works = this.#waiting
    this.#waiting = []
    this.#bytes = 0
    for (const work of works) this.#run(work)
  }

  close(): void {
    this.flush()
    this.#isClosed = true
  }

  #run(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#log.error({ err: error }, 'journal.work-failed')
    }
  }
}
