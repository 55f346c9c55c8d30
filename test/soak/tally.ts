/** Requests to the gateway, and their results. */
export class Tally {
  sent = 0
  /** Answered 200, to the end. */
  complete = 0
  /** Left by the client. */
  left = 0
  /** Answers from a cache, or shared with a call in flight. */
  hits = 0
  /** Replies without a status: the connection broke, or nothing came in time. */
  lost = 0
  /** Number of replies by status. */
  readonly statuses: Record<string, number> = {}
  #latencies: number[] = []

  /** Counts a reply's status. */
  count(status: number): void {
    this.statuses[status] = (this.statuses[status] ?? 0) + 1
  }

  /** Records the gateway's share of a wait, in milliseconds. */
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
