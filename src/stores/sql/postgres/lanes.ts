import { GatewayError } from '../../../core/errors.ts'
import { TransientMap } from '../../../core/transient-map.ts'
import { unavailable } from '../engine/faults.ts'

/** More of one lane would only wait for the same rows, and keep connections from other lanes. */
const MOST_RUNNING = 2
const MOST_WAITING = 1024
const TRIES = 3
/** How many time-outs of a command an item may wait, and the bounds of that wait; a hold's lease is longer. */
const TIME_OUTS = 15
const LEAST_WAIT_MS = 30_000
const MOST_WAIT_MS = 300_000

/** Returns how long an item may wait for a command that times out after `timeoutMs`. */
export function longestLaneWaitMs(timeoutMs: number): number {
  return Math.min(Math.max(LEAST_WAIT_MS, TIME_OUTS * timeoutMs), MOST_WAIT_MS)
}

interface Waiting {
  readonly sinceMs: number
  readonly start: () => void
  readonly fail: (error: unknown) => void
}

interface Lane {
  running: number
  readonly waiting: Waiting[]
}

/**
 * Runs work that changes the same rows, two at a time for each key, in the order in which it came; the rest waits in
 * memory, without a connection. Work is idempotent: late work is retried as long as the database
 * replies to anything, since then the machine is busy and the database is not down. Rejects with `service_unavailable` the
 * 1,025th waiting item, work that has waited for `longestWaitMs` or was late three times, and, when the database replied to
 * nothing meanwhile, that work and all that waits behind it.
 */
export class Lanes {
  readonly #lanes = new TransientMap<Lane>()
  readonly #answers: () => number
  readonly #longestWaitMs: number

  /** `answers`: number of replies of the database so far, in any lane. `longestWaitMs`: of an item before it is run. */
  constructor(answers: () => number, longestWaitMs: number) {
    this.#answers = answers
    this.#longestWaitMs = longestWaitMs
  }

  async run<Output>(key: string, work: () => Promise<Output>): Promise<Output> {
    const lane = this.#laneOf(key)
    if (lane.running < MOST_RUNNING) lane.running++
    else await waitIn(lane)
    try {
      return await this.#attempts(lane, work)
    } finally {
      this.#leave(key, lane)
    }
  }

  async #attempts<Output>(lane: Lane, work: () => Promise<Output>): Promise<Output> {
    for (let tried = 1; ; tried++) {
      const answersBefore = this.#answers()
      try {
        return await work()
      } catch (error) {
        if (!isUnanswered(error)) throw error
        if (this.#answers() === answersBefore) for (const { fail } of lane.waiting.splice(0)) fail(error)
        else if (tried < TRIES) continue
        throw error
      }
    }
  }

  #laneOf(key: string): Lane {
    const known = this.#lanes.get(key)
    if (known !== undefined) return known
    const lane: Lane = { running: 0, waiting: [] }
    this.#lanes.set(key, lane)
    return lane
  }

  /** Passes the place to the next item that has not timed out. */
  #leave(key: string, lane: Lane): void {
    const nowMs = performance.now()
    for (let next = lane.waiting.shift(); next !== undefined; next = lane.waiting.shift()) {
      if (nowMs - next.sinceMs <= this.#longestWaitMs) {
        next.start()
        return
      }
      next.fail(unavailable('The database did not get round to it in time.'))
    }
    lane.running--
    if (lane.running === 0) this.#lanes.delete(key)
  }
}

function isUnanswered(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'service_unavailable'
}

function waitIn({ waiting }: Lane): Promise<void> {
  if (waiting.length >= MOST_WAITING) throw unavailable('The database has too much to do.')
  return new Promise((start, fail) => waiting.push({ sinceMs: performance.now(), start, fail }))
}
