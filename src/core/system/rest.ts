import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * DESIGN: a thread that rests returns its memory
 *
 *   every minute:  the event loop was busy for less than a fiftieth of it, and for 10 s since the last collection
 *                  └──► one full collection that also frees V8's spare pages: 100 to 180 ms
 *
 * V8 keeps the pages that a burst needed until a later collection: a gateway without requests makes none, and would keep
 * them for days. Such a collection also ends optimised code, since the shapes of a request's objects are gone: the next
 * thousands of requests take 0.6 s of CPU more, so it comes after work of ten seconds and a minute of rest.
 */

/** Input of `releaseMemoryAtRest`, in milliseconds. */
export interface RestOptions {
  /** Interval of the looks. Default: a minute. */
  readonly everyMs?: number
  /** Least time of work since the last collection. Default: 10 s. */
  readonly workedMs?: number
}

/** Largest part of an interval in which the event loop of a resting thread is busy. */
const MOST_BUSY = 0.02
const EVERY_MS = 60_000
const WORKED_MS = 10_000

/** Collects the garbage of this thread whenever it rests after work. Its timer keeps no thread alive. */
export function releaseMemoryAtRest({ everyMs = EVERY_MS, workedMs = WORKED_MS }: RestOptions = {}): void {
  let collected = performance.eventLoopUtilization()
  let last = collected
  const look = () => {
    const now = performance.eventLoopUtilization()
    const isResting = performance.eventLoopUtilization(now, last).utilization <= MOST_BUSY
    last = now
    if (!isResting || now.active - collected.active < workedMs) return
    collect()
    last = collected = performance.eventLoopUtilization()
  }
  setInterval(look, everyMs).unref()
}

/** Makes a full collection as V8 does it when memory is short. Other contexts do not get its function. */
function collect(): void {
  setFlagsFromString('--expose-gc')
  const gc: (options: { type: 'major'; flavor: 'last-resort' }) => void = runInNewContext('gc')
  setFlagsFromString('--no-expose-gc')
  gc({ type: 'major', flavor: 'last-resort' })
}
