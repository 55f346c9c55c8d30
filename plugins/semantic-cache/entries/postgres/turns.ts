/** More is refused: while PostgreSQL hangs, what waits for its turn must not fill the memory. */
const MOST_WAITING = 20_000

/** Lets what is done to one scope be done in the order in which it was asked, on whatever connection. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>()
  readonly #patienceMs: number
  #waiting = 0

  constructor(patienceMs: number) {
    this.#patienceMs = patienceMs
  }

  /** Does `work` when what was asked before has been done, or has failed; rejects when that takes too long. */
  async take(scope: string, work: () => Promise<void>): Promise<void> {
    if (this.#waiting >= MOST_WAITING) throw new Error('too much waits for PostgreSQL')
    const askedAtMs = performance.now()
    const before = this.#last.get(scope)
    const mine = Promise.withResolvers<void>()
    this.#last.set(scope, mine.promise)
    this.#waiting++
    try {
      await before
      if (performance.now() - askedAtMs > this.#patienceMs) throw new Error('PostgreSQL is too slow for what waits')
      await work()
    } finally {
      this.#waiting--
      mine.resolve()
      if (this.#last.get(scope) === mine.promise) this.#last.delete(scope)
    }
  }
}
