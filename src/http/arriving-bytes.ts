/**
 * DESIGN — bytes of bodies that are still arriving
 *
 * A body that stops half-way occupies memory until its time-out, so the bodies that arrive at the same time share a
 * budget. When it is exceeded, the sender that occupies most loses the body on which nothing has come for the longest
 * time. Senders who hold connections open lose theirs to those who send; a sender with one body loses it last.
 *
 *   add(arrival, bytes) ──► over the budget? ──► sender with most bytes ──► its least recently active body: drop()
 */

/** A body that is being read. */
export interface Arrival {
  /** Whose it is: a scope, or a place on the network. */
  readonly sender: string
  bytes: number
  /** Gives up the body: its bytes are free at once. */
  readonly drop: () => void
}

interface Sender {
  bytes: number
  /** The least recently active first. */
  readonly arrivals: Set<Arrival>
}

/** Counts the bytes of bodies that arrive at the same time, up to `budgetBytes`. */
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

  /** Forgets a body: it has arrived, or was given up. Harmless when it was forgotten before. */
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
