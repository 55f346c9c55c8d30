/**
 * DESIGN — bytes of bodies that are still arriving
 *
 * A stalled body occupies memory until its time-out, so all arriving bodies share a budget. When it is exceeded, the
 * least recently active body of the sender with most bytes is dropped. Stalled senders thus lose their bodies to active
 * ones, and a sender with one body loses it last.
 *
 *   add(arrival, bytes) ──► over the budget? ──► sender with most bytes ──► its least recently active body: drop()
 */

/** A request body of which bytes still arrive. */
export interface Arrival {
  /** The caller's scope, or the client's subnet. */
  readonly sender: string
  bytes: number
  /** Abandons the body and frees its bytes at once. */
  readonly drop: () => void
}

interface Sender {
  bytes: number
  /** In order of activity, the least recent first. */
  readonly arrivals: Set<Arrival>
}

/** Counts the bytes of all arriving bodies, up to `budgetBytes`. */
export class ArrivingBytes {
  readonly #budgetBytes: number
  readonly #senders = new Map<string, Sender>()
  #bytes = 0

  constructor(budgetBytes: number) {
    this.#budgetBytes = budgetBytes
  }

  /** Counts further bytes of a body; drops others, or this one, while all together exceed the budget. */
  add(arrival: Arrival, bytes: number): void {
    const sender = this.#senders.get(arrival.sender) ?? { bytes: 0, arrivals: new Set() }
    this.#senders.set(arrival.sender, sender)
    sender.arrivals.delete(arrival)
    sender.arrivals.add(arrival)
    sender.bytes += bytes
    arrival.bytes += bytes
    this.#bytes += bytes
    while (this.#bytes > this.#budgetBytes) this.#dropOne()
  }

  /** Releases the bytes of a body that is complete or abandoned. Idempotent. */
  remove(arrival: Arrival): void {
    const sender = this.#senders.get(arrival.sender)
    if (sender?.arrivals.delete(arrival) !== true) return
    sender.bytes -= arrival.bytes
    this.#bytes -= arrival.bytes
    if (sender.arrivals.size === 0) this.#senders.delete(arrival.sender)
  }

  #dropOne(): void {
    let largest: Sender | undefined
    for (const sender of this.#senders.values())
      if (largest === undefined || sender.bytes > largest.bytes) largest = sender
    const [stalest] = largest?.arrivals ?? []
    if (stalest === undefined) return
    this.remove(stalest)
    stalest.drop()
  }
}
