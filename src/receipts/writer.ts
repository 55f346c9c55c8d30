import { GatewayError, messageOf } from '../core/errors.ts'
import type { Log } from '../core/ports.ts'
import type { Receipt, ReceiptStore, SignedReceipt } from '../core/receipt.ts'

/**
 * DESIGN — receipts on their way to the store
 *
 *   add() ──► waiting (bounded) ──a moment──► sign ──► put, a few dozen at once ──► gone
 *                 ▲                             │ the store is down
 *                 └──────── after a pause ◄─────┘
 *
 * They wait for a moment so that many share one commit: alone, a receipt would cost several times what its request does.
 *
 * Guarantees: `add` never waits, throws or rejects; what waits can be found; a warning at most once a second counts what
 * failed and what was dropped. Limits: what does not fit is dropped, the newest first; what waits at a crash is lost.
 */
const MOST_WAITING = 10_000
/** As many as the SQLite store commits together. */
const MOST_AT_ONCE = 64
const PAUSE_MS = 1000
const MOMENT_MS = 50

/** What a writer is made from. */
export interface ReceiptWriterOptions {
  readonly store: ReceiptStore
  readonly sign: (receipt: Receipt) => Promise<SignedReceipt>
  readonly log: Log
  /** Default 10,000. */
  readonly mostWaiting?: number
  /** Between two tries of a store that is down, and between two warnings. Default one second. */
  readonly pauseMs?: number
}

interface Waiting {
  readonly scope: string
  readonly receipt: Receipt
  signed?: Promise<SignedReceipt>
}

/** Signs and stores receipts in the background. */
export class ReceiptWriter {
  readonly #options: ReceiptWriterOptions
  readonly #mostWaiting: number
  readonly #pauseMs: number
  /** By id, in the order of their coming; those that are being written are among them. */
  readonly #waiting = new Map<string, Waiting>()
  #queue: Waiting[] = []
  #running = 0
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
  add(scope: string, receipt: Receipt): void {
    if (this.#waiting.size >= this.#mostWaiting) return void this.#drop(1, 'too many receipts wait')
    const waiting: Waiting = { scope, receipt }
    this.#waiting.set(receipt.id, waiting)
    this.#queue.push(waiting)
    this.#schedule()
  }

  /** Counts a receipt that could not even be made. */
  fail(error: unknown): void {
    this.#drop(1, messageOf(error))
  }

  /** A receipt of this scope that still waits. */
  find(scope: string, id: string): Promise<SignedReceipt> | undefined {
    const waiting = this.#waiting.get(id)
    return waiting?.scope === scope ? this.#signed(waiting) : undefined
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
    if (this.#isClosing || this.#queue.length >= MOST_AT_ONCE) this.#pump()
    else this.#moment ??= setTimeout(() => this.#pump(), MOMENT_MS).unref()
  }

  #pump(): void {
    clearTimeout(this.#moment)
    this.#moment = undefined
    while (this.#running < MOST_AT_ONCE && this.#pause === undefined) {
      const next = this.#queue.shift()
      if (next === undefined) return
      this.#running++
      void this.#write(next).then(() => {
        this.#running--
        if (this.#running === 0 && this.#queue.length > 0) this.#schedule()
        if (this.#waiting.size === 0) this.#onIdle?.()
      })
    }
  }

  /** Never rejects. */
  async #write(waiting: Waiting): Promise<void> {
    try {
      await this.#options.store.put(waiting.scope, await this.#signed(waiting))
      this.#waiting.delete(waiting.receipt.id)
    } catch (error) {
      this.#onFailure(waiting, error)
    }
  }

  #signed(waiting: Waiting): Promise<SignedReceipt> {
    waiting.signed ??= this.#options.sign(waiting.receipt)
    return waiting.signed
  }

  /** What is down now may be up again; what is refused for another reason would be refused for ever. */
  #onFailure(waiting: Waiting, error: unknown): void {
    // The writer may have been closed meanwhile.
    if (!this.#waiting.has(waiting.receipt.id)) return
    if (!(error instanceof GatewayError) || error.code !== 'service_unavailable') {
      this.#waiting.delete(waiting.receipt.id)
      return void this.#drop(1, messageOf(error))
    }
    this.#queue.unshift(waiting)
    this.#pause ??= setTimeout(() => this.#resume(), this.#pauseMs).unref()
    this.#failed++
    this.#warn(messageOf(error))
  }

  #resume(): void {
    clearTimeout(this.#pause)
    this.#pause = undefined
    this.#pump()
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
