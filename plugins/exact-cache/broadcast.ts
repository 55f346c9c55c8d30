import { type ByteSource, type ByteSourceSink, type Ending, StreamReply } from 'turnpike/plugin'

/**
 * DESIGN — one running stream, many readers
 *
 *   provider ──► log of portions ──► reader 1 (at portion 7)
 *                                └─► reader 2 (at portion 3; joined late, reads from the first byte)
 *
 * Guarantees
 * - Every reader gets every portion from the first one on, at its own pace.
 * - The stream is read on as long as one reader keeps up; a slow reader does not hold the others back.
 * Limits
 * - The log holds at most `limitBytes`. A longer reply takes no newcomers (`isOpen` is false), drops what all have read,
 *   and then moves at the pace of its slowest reader, so that memory stays bounded.
 */
export class Broadcast {
  readonly #origin: StreamReply
  readonly #limitBytes: number
  readonly #readers = new Set<Reader>()
  #log: Buffer[] = []
  #dropped = 0
  #loggedBytes = 0
  #isComplete = true
  #ending: Ending | undefined

  constructor(origin: StreamReply, limitBytes: number) {
    this.#origin = origin
    this.#limitBytes = limitBytes
  }

  /** Whether the log still begins with the first byte. */
  get isOpen(): boolean {
    return this.#isComplete
  }

  /** Starts reading the provider's stream. Resolves when it has ended, with its bytes if all of them are still there. */
  start(): Promise<{ ending: Ending; bytes: Buffer | undefined }> {
    return new Promise((resolve) => {
      this.#origin.open({
        write: (portion) => this.#append(portion),
        end: (ending) => {
          this.#ending = ending
          for (const reader of this.#readers) reader.pump()
          resolve({ ending, bytes: this.#isComplete ? Buffer.concat(this.#log) : undefined })
        },
      })
    })
  }

  /** A reply that carries the whole stream from its first byte. */
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
    return new StreamReply({ status: this.#origin.status, headers: this.#origin.headers, isWhole: true }, reader)
  }

  /** Stops the provider. */
  cancel(): void {
    this.#origin.cancel()
  }

  #append(portion: Buffer): boolean {
    this.#log.push(portion)
    this.#loggedBytes += portion.length
    if (this.#loggedBytes > this.#limitBytes) this.#isComplete = false
    for (const reader of this.#readers) reader.pump()
    this.#dropRead()
    return this.#mayFlow()
  }

  #onProgress(): void {
    this.#dropRead()
    if (this.#ending === undefined && this.#mayFlow()) this.#origin.resume()
  }

  #mayFlow(): boolean {
    if (this.#readers.size === 0) return true
    const readers = [...this.#readers]
    return this.#isComplete ? readers.some(({ isPaused }) => !isPaused) : readers.every(({ isPaused }) => !isPaused)
  }

  #dropRead(): void {
    if (this.#isComplete) return
    const readByAll = Math.min(...[...this.#readers].map(({ position }) => position), this.#dropped + this.#log.length)
    if (readByAll <= this.#dropped) return
    this.#log.splice(0, readByAll - this.#dropped)
    this.#dropped = readByAll
  }
}

interface ReaderOptions {
  at(index: number): Buffer | undefined
  ending(): Ending | undefined
  onProgress(): void
  onLeave(): void
}

/** One reader's place in the log. */
class Reader implements ByteSource {
  readonly #options: ReaderOptions
  #sink: ByteSourceSink | undefined
  #isOver = false
  position = 0
  /** Until it is opened, a reader takes nothing. */
  isPaused = true

  constructor(options: ReaderOptions) {
    this.#options = options
  }

  start(sink: ByteSourceSink): void {
    this.#sink = sink
    this.resume()
  }

  pause(): void {
    this.isPaused = true
  }

  resume(): void {
    this.isPaused = false
    this.pump()
    this.#options.onProgress()
  }

  cancel(): void {
    this.#isOver = true
    this.#options.onLeave()
  }

  /** Passes on what is there, until the log or the sink's patience ends. */
  pump(): void {
    if (this.#sink === undefined || this.#isOver) return
    while (!this.isPaused) {
      const portion = this.#options.at(this.position)
      if (portion === undefined) break
      this.position++
      this.#sink.data(portion)
    }
    const ending = this.#options.ending()
    if (ending === undefined || this.#options.at(this.position) !== undefined) return
    this.#isOver = true
    this.#options.onLeave()
    this.#sink.end(ending)
  }
}
