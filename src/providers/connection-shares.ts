import { abortable, type WaitLimits } from '../core/abortable.ts'

/**
 * DESIGN — connections to one provider, shared by callers
 *
 * A caller may take a connection while it holds fewer than three times as many as are free. One caller alone gets three
 * quarters of them, two get three sevenths each, and there is always one left for a caller who holds none, until many
 * callers want many: the dynamic thresholds of packet switches (Choudhury and Hahne, 1998). Other calls wait; a released
 * connection goes to the waiting caller with the fewest connections.
 */
const TIMES_FREE = 3
/** Waiting calls per provider: each keeps its body in memory. */
const MOST_WAITING = 4096

/** Limits of a wait for a connection, and the error on time-out. */
export interface ConnectionWait extends WaitLimits {
  readonly onTimeout: () => Error
}

/** Counts the connections to one provider by caller. */
export class ConnectionShares {
  #free: number
  #waiters = 0
  readonly #held = new Map<string, number>()
  /** By caller, oldest first; the callers in the order of their turns. */
  readonly #waiting = new Map<string, Set<() => void>>()

  constructor(connections: number) {
    this.#free = connections
  }

  /** Takes a connection if the caller may have one at once; `release` returns it. */
  tryTake(caller: string): boolean {
    const held = this.heldBy(caller)
    if (held >= TIMES_FREE * this.#free) return false
    this.#free--
    this.#held.set(caller, held + 1)
    return true
  }

  /** Number of connections that a caller holds. */
  heldBy(caller: string): number {
    return this.#held.get(caller) ?? 0
  }

  /** Waits for a connection and takes it. Rejects with the signal's reason or the error of `onTimeout`. */
  async wait(caller: string, limits: ConnectionWait): Promise<void> {
    if (this.#waiters >= MOST_WAITING) throw limits.onTimeout()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiters++
    const queue = this.#waiting.get(caller) ?? new Set()
    this.#waiting.set(caller, queue.add(resolve))
    try {
      await abortable(promise, limits)
    } catch (error) {
      // A connection assigned at the same moment goes to the next waiter.
      if (queue.has(resolve)) this.#stopWaiting(caller, resolve)
      else this.release(caller)
      throw error
    }
  }

  /** Returns a caller's connection. */
  release(caller: string): void {
    const held = this.heldBy(caller)
    if (held > 1) this.#held.set(caller, held - 1)
    else this.#held.delete(caller)
    this.#free++
    for (let next = this.#poorest(); next !== undefined && this.tryTake(next); next = this.#poorest()) {
      const [give] = this.#waiting.get(next) ?? []
      if (give === undefined) return
      this.#stopWaiting(next, give)
      give()
    }
  }

  /** Returns the waiting caller with the fewest connections; of several, the next in turn. */
  #poorest(): string | undefined {
    let found: string | undefined
    let fewest = Number.POSITIVE_INFINITY
    for (const caller of this.#waiting.keys()) {
      const held = this.heldBy(caller)
      if (held >= fewest) continue
      found = caller
      fewest = held
    }
    return found
  }

  #stopWaiting(caller: string, give: () => void): void {
    const queue = this.#waiting.get(caller)
    if (queue?.delete(give) !== true) return
    this.#waiters--
    this.#waiting.delete(caller)
    // The caller moves to the end of the turns.
    if (queue.size > 0) this.#waiting.set(caller, queue)
  }
}
