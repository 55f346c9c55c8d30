import { TransientMap } from '../core/transient-map.ts'

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
  /** Its place in the order of activity; unset while none of its bytes count. */
  turn?: number | undefined
  /** Abandons the body and frees its bytes at once. */
  readonly drop: () => void
}

interface Sender {
  bytes: number
  count: number
  /** By their turns, the least recently active first. */
  readonly arrivals: TransientMap<Arrival>
}

/** Counts the bytes of all arriving bodies, up to `budgetBytes`. */
export class ArrivingBytes {
  readonly #budgetBytes: number
  readonly #senders = new TransientMap<Sender>()
  #bytes = 0
  #turn = 0

  constructor(budgetBytes: number) {
    this.#budgetBytes = budgetBytes
  }

  /** Counts further bytes of a body; drops others, or this one, while all together exceed the budget. */
  add(arrival: Arrival, bytes: number): void {
    const sender = this.#senders.get(arrival.sender) ?? this.#addSender(arrival.sender)
    if (arrival.turn === undefined) sender.count++
    else sender.arrivals.delete(arrival.turn)
    arrival.turn = ++this.#turn
    sender.arrivals.set(arrival.turn, arrival)
    sender.bytes += bytes
    arrival.bytes += bytes
    this.#bytes += bytes
    while (this.#bytes > this.#budgetBytes) this.#dropOne()
  }

  /** Releases the bytes of a body that is complete or abandoned. Idempotent. */
  remove(arrival: Arrival): void {
    const sender = this.#senders.get(arrival.sender)
    if (sender === undefined || arrival.turn === undefined) return
    sender.arrivals.delete(arrival.turn)
    arrival.turn = undefined
    sender.bytes -= arrival.bytes
    this.#bytes -= arrival.bytes
    if (--sender.count === 0) this.#senders.delete(arrival.sender)
  }

  #addSender(name: string): Sender {
    const sender: Sender = { bytes: 0, count: 0, arrivals: new TransientMap() }
    this.#senders.set(name, sender)
    return sender
  }

  #dropOne(): void {
    let largest: Sender | undefined
    for (const sender of this.#senders.values())
      if (largest === undefined || sender.bytes > largest.bytes) largest = sender
    const stalest = largest?.arrivals.first()
    if (stalest === undefined) return
    this.remove(stalest)
    stalest.drop()
  }
}
