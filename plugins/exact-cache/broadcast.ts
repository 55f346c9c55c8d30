import {
  type Ending,
  Flow,
  type FlowDriver,
  type ReplyDialect,
  type ReplyHeaders,
  StreamReply,
} from 'turnpike/plugin/bytes'
import type { Usage } from 'turnpike/plugin/spend'

/**
 * DESIGN — one running stream, many readers
 *
 *   provider ──► log of portions ──► reader 1 (at portion 7)
 *                                └─► reader 2 (at portion 3; joined late, reads from the first byte)
 *
 * Guarantees
 * - Every reader gets every portion from the first one on, at its own pace.
 * - The stream is read as long as one reader keeps up, or a waiter needs the whole; a slow reader does not hold
 *   the others back.
 * Limits
 * - The log holds at most `limitBytes`. A longer reply accepts no new readers (`isOpen` is false), has no whole any more, drops
 *   what all have read, and then moves at the pace of its slowest reader, so that memory stays bounded.
 */
export class Broadcast {
  readonly #origin: StreamReply
  readonly #limitBytes: number
  readonly #readers = new Set<Reader>()
  readonly #whole = Promise.withResolvers<Whole>()
  #isAwaited = false
  #log: Buffer[] = []
  #dropped = 0
  #loggedBytes = 0
  #isComplete = true
  #ending: Ending | undefined

  constructor(origin: StreamReply, limitBytes: number) {
    this.#origin = origin
    this.#limitBytes = limitBytes
  }

  /** Dialect of the stream. */
  get dialect(): ReplyDialect {
    return this.#origin.dialect
  }

  get headers(): ReplyHeaders {
    return this.#origin.headers
  }

  /** True while the log still begins with the first byte. */
  get isOpen(): boolean {
    return this.#isComplete
  }

  /** Starts reading the provider's stream. Resolves with the result when it has ended. */
  start(): Promise<Whole> {
    return new Promise((resolve) => {
      this.#origin.open({
        write: (portion) => this.#append(portion),
        end: (ending) => {
          this.#ending = ending
          for (const reader of this.#readers) reader.pump()
          this.#whole.resolve(this.#wholeAt(ending))
          resolve(this.#whole.promise)
        },
      })
    })
  }

  /**
   * Resolves with the result of the stream: `too-long` as soon as it has outgrown the log, otherwise at its end. From
   * now on no reader may hold the stream back.
   */
  whole(): Promise<Whole> {
    this.#isAwaited = true
    this.#onProgress()
    return this.#whole.promise
  }

  /** Returns a reply that carries the whole stream from its first byte. */
  read(): StreamReply {
    const reader: Reader = new Reader({
      at: (index) => this.#log[index - this.#dropped],
      ending: () => this.#ending,
      onProgress: () => this.#onProgress(),
      onLeave: () => {
        this.#readers.delete(reader)
        this.#onProgress()
      },
    })
    this.#readers.add(reader)
    const { status, headers, dialect } = this.#origin
    // A plugin may add headers for its own caller alone.
    return new StreamReply({ status, headers: { ...headers }, isWhole: true, dialect }, reader.flow)
  }

  /** Aborts the provider's stream. */
  cancel(): void {
    this.#origin.cancel()
  }

  #wholeAt({ outcome, usage }: Ending): Whole {
    if (!this.#isComplete) return { kind: 'too-long' }
    return outcome === 'complete' ? { kind: 'complete', bytes: Buffer.concat(this.#log), usage } : { kind: 'broken' }
  }

  #append(portion: Buffer): boolean {
    this.#log.push(portion)
    this.#loggedBytes += portion.length
    if (this.#loggedBytes > this.#limitBytes) this.#outgrow()
    for (const reader of this.#readers) reader.pump()
    this.#dropRead()
    return this.#mayFlow()
  }

  #outgrow(): void {
    this.#isComplete = false
    this.#whole.resolve({ kind: 'too-long' })
  }

  #onProgress(): void {
    this.#dropRead()
    if (this.#ending === undefined && this.#mayFlow()) this.#origin.resume()
  }

  #mayFlow(): boolean {
    if (this.#readers.size === 0) return true
    let paused = 0
    for (const { isPaused } of this.#readers) if (isPaused) paused++
    if (!this.#isComplete) return paused === 0
    return this.#isAwaited || paused < this.#readers.size
  }

  #dropRead(): void {
    if (this.#isComplete) return
    const readByAll = Math.min(...[...this.#readers].map(({ position }) => position), this.#dropped + this.#log.length)
    if (readByAll <= this.#dropped) return
    this.#log.splice(0, readByAll - this.#dropped)
    this.#dropped = readByAll
  }
}

/** Result of a stream. */
export type Whole =
  | { readonly kind: 'complete'; readonly bytes: Buffer; readonly usage: Usage | undefined }
  | { readonly kind: 'broken' | 'too-long' }

interface ReaderOptions {
  at(index: number): Buffer | undefined
  ending(): Ending | undefined
  onProgress(): void
  onLeave(): void
}

/** Position of one reader in the log. */
class Reader implements FlowDriver {
  readonly flow = new Flow(this)
  readonly #options: ReaderOptions
  position = 0

  constructor(options: ReaderOptions) {
    this.#options = options
  }

  /** Paused until it is opened. */
  get isPaused(): boolean {
    return !this.flow.takes
  }

  start(): void {
    this.resume()
  }

  resume(): void {
    this.pump()
    this.#options.onProgress()
  }

  cancel(): void {
    this.#options.onLeave()
  }

  /** Passes on what is available, until the end of the log or back-pressure of the sink. */
  pump(): void {
    while (this.flow.takes) {
      const portion = this.#options.at(this.position)
      if (portion === undefined) break
      this.position++
      this.flow.push(portion)
    }
    const ending = this.#options.ending()
    if (ending === undefined || this.flow.hasEnded || this.#options.at(this.position) !== undefined) return
    this.#options.onLeave()
    this.flow.end(ending)
  }
}
