import { GatewayError, messageOf } from '../core/errors.ts'
import type { Log } from '../core/ports/log.ts'
import type { ReceiptStore, SignedReceipt, StoredReceipt } from '../core/telemetry/receipt.ts'

/**
 * DESIGN — receipts on their way to the store
 *
 *   add() ──► waiting (bounded) ──a moment──► put, a few dozen at once ──► gone
 *                 ▲                             │ the store is down
 *                 └──────── after a pause ◄─────┘
 *
 * They wait for a moment so that many share one message and one commit: alone, a receipt would cost several times what
 * its request does. They wait as text, which is what is stored and weighs least on the collector of garbage.
 *
 * Guarantees: `add` never waits, throws or rejects; what waits can be found; a warning at most once a second counts what
 * failed and what was dropped. Limits: what does not fit is dropped, the newest first; what waits at a crash is lost.
 */
const MOST_WAITING = 10_000
/** As many as one statement takes, and few enough not to hold up others. */
const MOST_AT_ONCE = 64
const PAUSE_MS = 1000
const MOMENT_MS = 50

/** What a writer is made from. */
export interface ReceiptWriterOptions {
  readonly store: ReceiptStore
  readonly log: Log
  /** Default 10,000. */
  readonly mostWaiting?: number
  /** Between two tries of a store that is down, and between two warnings. Default one second. */
  readonly pauseMs?: number
}

/** Stores receipts in the background. */
export class ReceiptWriter {
  readonly #options: ReceiptWriterOptions
  readonly #mostWaiting: number
  readonly #pauseMs: number
  /** By id, in the order of their coming; those that are being written are among them. */
  readonly #waiting = new Map<string, StoredReceipt>()
  #queue: StoredReceipt[] = []
  #isWriting = false
  #pause: NodeJS.Timeout | undefined
  #moment: NodeJS.Timeout | undefined
  #warning: NodeJS.Timeout | undefined
  #failed = 0
  #dropped = 0
  #reason = ''
  #onIdle: (() => void) | undefined
  #isClosing = false

  constructor(options: ReceiptWriterOptions) {
    this.#options = options
    this.#mostWaiting = options.mostWaiting ?? MOST_WAITING
    this.#pauseMs = options.pauseMs ?? PAUSE_MS
  }

  /** Takes a receipt; it is stored later, or dropped when too many wait. */
  add(receipt: StoredReceipt): void {
    if (this.#waiting.size >= this.#mostWaiting) return void this.#drop(1, 'too many receipts wait')
    this.#waiting.set(receipt.id, receipt)
    this.#queue.push(receipt)
    this.#schedule()
  }

  /** Counts a receipt that could not even be made. */
  fail(error: unknown): void {
    this.#drop(1, messageOf(error))
  }

  /** A receipt of this scope that still waits. */
  find(scope: string, id: string): SignedReceipt | undefined {
    const waiting = this.#waiting.get(id)
    // Safe: what waits is a signed receipt's JSON.
    return waiting?.scope === scope ? (JSON.parse(waiting.json) as SignedReceipt) : undefined
  }

  /** Stores what waits, for at most `timeoutMs`; the rest is dropped, and counted. */
  async close(timeoutMs: number): Promise<void> {
    this.#resume()
    const { promise: idle, resolve } = Promise.withResolvers<void>()
    this.#onIdle = resolve
    if (this.#waiting.size === 0) resolve()
    const timer = setTimeout(resolve, timeoutMs)
    this.#isClosing = true
    await idle
    clearTimeout(timer)
    clearTimeout(this.#pause)
    clearTimeout(this.#moment)
    this.#queue = []
    if (this.#waiting.size > 0) this.#drop(this.#waiting.size, 'the gateway stopped')
    this.#waiting.clear()
    clearTimeout(this.#warning)
    this.#tell()
  }

  #schedule(): void {
    if (this.#isClosing || this.#queue.length >= MOST_AT_ONCE) void this.#pump()
    else this.#moment ??= setTimeout(() => void this.#pump(), MOMENT_MS).unref()
  }

  /** Writes one batch after another until nothing waits. Never rejects. */
  async #pump(): Promise<void> {
    clearTimeout(this.#moment)
    this.#moment = undefined
    if (this.#isWriting) return
    this.#isWriting = true
    while (this.#queue.length > 0 && this.#pause === undefined) await this.#write(this.#queue.splice(0, MOST_AT_ONCE))
    this.#isWriting = false
    if (this.#waiting.size === 0) this.#onIdle?.()
  }

  async #write(batch: readonly StoredReceipt[]): Promise<void> {
    try {
      await this.#options.store.put(batch)
      for (const { id } of batch) this.#waiting.delete(id)
    } catch (error) {
      await this.#onFailure(batch, error)
    }
  }

  /** What is down now may be up again. One that is refused for another reason must not take the others along. */
  async #onFailure(batch: readonly StoredReceipt[], error: unknown): Promise<void> {
    // The writer may have been closed meanwhile.
    const waiting = batch.filter(({ id }) => this.#waiting.has(id))
    if (error instanceof GatewayError && error.code === 'service_unavailable') {
      this.#queue.unshift(...waiting)
      this.#pause ??= setTimeout(() => this.#resume(), this.#pauseMs).unref()
      this.#failed += waiting.length
      return void this.#warn(messageOf(error))
    }
    if (waiting.length > 1) return this.#writeOneByOne(waiting)
    for (const { id } of waiting) this.#waiting.delete(id)
    this.#drop(waiting.length, messageOf(error))
  }

  async #writeOneByOne(batch: readonly StoredReceipt[]): Promise<void> {
    for (const [index, receipt] of batch.entries()) {
      // The store went down meanwhile: the rest waits with the one that found it.
      if (this.#pause !== undefined) return void this.#queue.splice(1, 0, ...batch.slice(index))
      await this.#write([receipt])
    }
  }

  #resume(): void {
    clearTimeout(this.#pause)
    this.#pause = undefined
    void this.#pump()
  }

  #drop(count: number, reason: string): void {
    this.#dropped += count
    this.#warn(reason)
  }

  #warn(reason: string): void {
    this.#reason = reason
    if (this.#warning === undefined) this.#tell()
  }

  #tell(): void {
    this.#warning = undefined
    const [failed, dropped] = [this.#failed, this.#dropped]
    if (failed + dropped === 0) return
    this.#failed = 0
    this.#dropped = 0
    const waiting = this.#waiting.size
    this.#options.log.warn({ failed, dropped, waiting, reason: this.#reason }, 'receipts.not-stored')
    this.#warning = setTimeout(() => this.#tell(), this.#pauseMs).unref()
  }
}
