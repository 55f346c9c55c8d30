/**
 * DESIGN — one way to make a source of bytes
 *
 *   driver ── push, end, fail ──► Flow ── data, end, fail ──► sink
 *          ◄─ start, resume, pause, cancel ─┘  ◄─ pause, resume, cancel
 *
 * Guarantees, whatever the driver does and whenever the sink calls back
 * - Portions reach the sink in their order, none before `start` and none while it is paused: what is pushed then waits.
 * - Exactly one of `end` and `fail` follows the last portion; nothing follows that, or a `cancel`.
 * - The driver is cancelled at most once, and never behind its own ending.
 * Limits: how much waits is the driver's affair; `push` returns false when it should stop.
 */
import type { ByteSource, ByteSourceSink, Ending } from './byte-source.ts'

/** What produces the bytes of a flow. */
export interface FlowDriver {
  start(): void
  /** The sink takes more again. */
  resume(): void
  /** The sink takes no more for now; a driver that obeys `push` needs none. */
  pause?(): void
  cancel(): void
}

/** Where a driver puts its bytes. */
export type FlowInlet = Pick<Flow, 'push' | 'end' | 'fail'>

/** A source of bytes that a driver pushes. */
export class Flow implements ByteSource {
  readonly #driver: FlowDriver
  #sink: ByteSourceSink | undefined
  #waiting: Buffer[] = []
  #ending: ((sink: ByteSourceSink) => void) | undefined
  #isPaused = false
  #isOver = false
  #isFlushing = false

  constructor(driver: FlowDriver) {
    this.#driver = driver
  }

  /** Whether a portion would go straight on to the sink. */
  get takes(): boolean {
    return this.#sink !== undefined && !this.#isPaused && !this.#isOver
  }

  /** Whether nothing can be pushed any more: it has ended, or was cancelled. */
  get hasEnded(): boolean {
    return this.#isOver || this.#ending !== undefined
  }

  start(sink: ByteSourceSink): void {
    if (this.#sink !== undefined) throw new Error('byte source started twice')
    this.#sink = sink
    this.#flush()
    if (!this.hasEnded) this.#driver.start()
  }

  pause(): void {
    if (this.#isPaused || this.#isOver) return
    this.#isPaused = true
    if (this.#ending === undefined) this.#driver.pause?.()
  }

  resume(): void {
    if (!this.#isPaused || this.#isOver) return
    this.#isPaused = false
    this.#flush()
    if (this.takes && !this.hasEnded) this.#driver.resume()
  }

  cancel(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#waiting = []
    if (this.#ending === undefined) this.#driver.cancel()
  }

  /** Passes a portion on, as soon as the sink takes it. Returns whether it takes more at once. */
  push(portion: Buffer): boolean {
    if (this.hasEnded) return false
    if (this.takes && this.#waiting.length === 0) this.#sink?.data(portion)
    else this.#waiting.push(portion)
    return this.takes
  }

  /** Ends the flow behind all that was pushed; `ending` when it is known. Later calls change nothing. */
  end(ending?: Ending): void {
    this.#finish((sink) => sink.end(ending))
  }

  /** As `end`, with an error. */
  fail(error: Error): void {
    this.#finish((sink) => sink.fail(error))
  }

  #finish(ending: (sink: ByteSourceSink) => void): void {
    if (this.hasEnded) return
    this.#ending = ending
    this.#flush()
  }

  /** The sink may pause, resume or cancel while it is given something. */
  #flush(): void {
    const sink = this.#sink
    if (sink === undefined || this.#isFlushing) return
    this.#isFlushing = true
    while (this.takes && this.#waiting.length > 0) sink.data(this.#waiting.shift() as Buffer) // safe: not empty
    this.#isFlushing = false
    if (this.#ending === undefined || this.#isOver || this.#waiting.length > 0) return
    this.#isOver = true
    this.#ending(sink)
  }
}

/** What becomes of another source's bytes. What throws fails the flow. */
export interface ByteTransform {
  data(chunk: Buffer, to: FlowInlet): void
  /** Before the flow ends; it may give an ending of its own. */
  end(to: FlowInlet): void
  /** Before the flow fails; it may give an ending of its own. */
  fail(error: Error, to: FlowInlet): void
}

/** The bytes of `source` as `transform` makes them. The source is cancelled when the transform ends before it. */
export function transformed(source: ByteSource, transform: ByteTransform): ByteSource {
  return new Transformed(source, transform).flow
}

class Transformed implements FlowDriver, ByteSourceSink {
  readonly flow = new Flow(this)
  readonly #source: ByteSource
  readonly #transform: ByteTransform

  constructor(source: ByteSource, transform: ByteTransform) {
    this.#source = source
    this.#transform = transform
  }

  start(): void {
    this.#source.start(this)
  }

  pause(): void {
    this.#source.pause()
  }

  resume(): void {
    this.#source.resume()
  }

  cancel(): void {
    this.#source.cancel()
  }

  data(chunk: Buffer): void {
    if (this.flow.hasEnded) return
    try {
      this.#transform.data(chunk, this.flow)
    } catch (error) {
      this.flow.fail(asError(error))
    }
    if (this.flow.hasEnded) this.#source.cancel()
  }

  end(ending?: Ending): void {
    if (this.flow.hasEnded) return
    try {
      this.#transform.end(this.flow)
    } catch (error) {
      this.flow.fail(asError(error))
    }
    this.flow.end(ending)
  }

  fail(error: Error): void {
    if (this.flow.hasEnded) return
    try {
      this.#transform.fail(error, this.flow)
    } catch {
      // The source's own failure counts.
    }
    this.flow.fail(error)
  }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}
