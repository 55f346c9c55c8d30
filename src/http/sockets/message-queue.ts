import type { Duplex } from 'node:stream'
import type { ByteCount } from '../body-intake.ts'

/** Messages that wait for the turn before them. */
const MOST_WAITING = 8
const MOST_WAITING_BYTES = 1024 * 1024

/**
 * DESIGN: messages of a socket before their turn
 *
 *   bytes of the connection ──► the arriving message ──► the queue ──► turn, whose body is read like any other
 *            └── counted in the budget of request bodies until then ──┘
 *
 * A count that exceeds the budget is dropped by cutting the socket. Bytes of the message after in the same chunk are not counted.
 */
export class MessageQueue {
  readonly #startCount: () => ByteCount
  readonly #waiting: { readonly message: Buffer; readonly count: ByteCount }[] = []
  #arriving: ByteCount

  constructor(connection: Duplex, startCount: () => ByteCount) {
    this.#startCount = startCount
    this.#arriving = startCount()
    // First, since the library reads a whole message from a chunk at once.
    connection.prependListener('data', (chunk: Buffer) => this.#arriving.add(chunk.length))
  }

  /** Ends the count of the message that has arrived, and starts that of the next one. */
  endArrival(): void {
    this.#arriving.end()
    this.#arriving = this.#startCount()
  }

  /** Adds a message; returns false without room: one of any size may wait, or several small ones. */
  push(message: Buffer): boolean {
    const bytes = this.#waiting.reduce((sum, { message: { length } }) => sum + length, message.length)
    const { length } = this.#waiting
    if (length > 0 && (length >= MOST_WAITING || bytes > MOST_WAITING_BYTES)) return false
    const count = this.#startCount()
    this.#waiting.push({ message, count })
    count.add(message.length)
    return true
  }

  /** Removes and returns the next message. */
  shift(): Buffer | undefined {
    const next = this.#waiting.shift()
    next?.count.end()
    return next?.message
  }

  /** Forgets all messages. */
  close(): void {
    while (this.shift() !== undefined);
    this.#arriving.end()
  }
}
