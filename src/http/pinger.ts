import type { ServerResponse } from 'node:http'
import { scanEvents } from '../core/reply/sse.ts'
import type { PingRules } from '../dialects/client-dialect.ts'

/** Input of a pinger. */
export interface PingerOptions {
  readonly rules: PingRules
  /** Silence after which a ping is sent, in milliseconds. */
  readonly intervalMs: number
  /** Returns true when the last write may have ended inside an event. */
  readonly isTorn: () => boolean
}

/**
 * Sends pings when a stream is idle, between its first event and its last: clients expect `message_start` first and
 * nothing after `message_stop`, although a provider may keep its connection open.
 */
export class Pinger {
  readonly #rules: PingRules
  readonly #timer: NodeJS.Timeout
  #hasBegun: boolean
  #isOver = false

  constructor(response: ServerResponse, { rules, intervalMs, isTorn }: PingerOptions) {
    this.#rules = rules
    this.#hasBegun = rules.from === undefined
    this.#timer = setTimeout(() => {
      if (this.#isOver || response.writableNeedDrain || isTorn()) return
      if (this.#hasBegun) response.write(rules.text)
      this.#timer.refresh()
    }, intervalMs)
  }

  /** Records whole events that are sent. */
  see(sent: Buffer | string): void {
    const { from, until } = this.#rules
    if (!this.#hasBegun) this.#hasBegun = from === undefined || sent.includes(from)
    const untilAt = this.#isOver ? -1 : sent.indexOf(until)
    if (untilAt >= 0) this.#isOver = this.#hasLast(sent, untilAt)
    this.#timer.refresh()
  }

  /** Restarts the wait after a slow client has read all buffered data. */
  refresh(): void {
    this.#timer.refresh()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  /** Looks for the last event among those that end after `untilAt`, an index of the text: a string may have more bytes. */
  #hasLast(sent: Buffer | string, untilAt: number): boolean {
    let hasLast = false
    scanEvents(typeof sent === 'string' ? Buffer.from(sent) : sent, (name, bytes, start, end, eventEnd) => {
      if (eventEnd > untilAt) hasLast ||= this.#rules.isLast(name, bytes.toString('utf8', start, end))
    })
    return hasLast
  }
}
