/** What was asked of the gateway, and what came of it. */
export class Tally {
  sent = 0
  /** Answered 200, to the end. */
  complete = 0
  /** Left by the client. */
  left = 0
  /** Answers from a cache, or shared with a call under way. */
  hits = 0
  /** Replies without a status: the connection broke, or nothing came in time. */
  lost = 0
  /** How many replies had each status. */
  readonly statuses: Record<string, number> = {}
  #latencies: number[] = []

  /** Counts a reply's status. */
  count(status: number): void {
    this.statuses[status] = (this.statuses[status] ?? 0) + 1
  }

  /** Takes down what the gateway added to a wait, in milliseconds. */
  add(latencyMs: number): void {
    this.#latencies.push(latencyMs)
  }

  /** The added latencies since it was asked last. */
  takeLatencies(): number[] {
    const taken = this.#latencies
    this.#latencies = []
    return taken
  }
}
