import type { ServerResponse } from 'node:http'
import { scanEvents } from '../core/reply/sse.ts'
import type { PingRules } from '../dialects/client-dialect.ts'

/** What a pinger is made from. */
export interface PingerOptions {
  readonly rules: PingRules
  /** Silence after which a ping is sent, in milliseconds. */
  readonly intervalMs: number
  /** Whether the last write may have ended inside an event. */
  readonly isTorn: () => boolean
}

/**
 * Breaks the silences of a stream with pings, between its first event and its last: clients wait for `message_start`
 * first, and do not expect anything behind `message_stop`, though a provider may hold its connection open.
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

  /** Sees whole events that are sent. */
  see(sent: Buffer | string): void {
    const { from, until } = this.#rules
    if (!this.#hasBegun) this.#hasBegun = from === undefined || sent.includes(from)
    if (!this.#isOver && sent.includes(until)) this.#isOver = this.#hasLast(sent)
    this.#timer.refresh()
  }

  /** Waits anew, after a client that was slow has taken what there was. */
  refresh(): void {
    this.#timer.refresh()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #hasLast(sent: Buffer | string): boolean {
    let hasLast = false
    scanEvents(typeof sent === 'string' ? Buffer.from(sent) : sent, (name, bytes, start, end) => {
      hasLast ||= this.#rules.isLast(name, bytes.toString('utf8', start, end))
    })
    return hasLast
  }
}
