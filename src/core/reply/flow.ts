/**
 * DESIGN — one way to make a source of bytes
 *
 *   driver ── push, end, fail ──► Flow ── data, end, fail ──► sink
 *          ◄─ start, resume, pause, cancel ─┘  ◄─ pause, resume, cancel
 *
 * Guarantees, whatever the driver does and whenever the sink calls back
 * - Portions reach the sink in order, none before `start` and none while it is paused: pushed portions then wait.
 * - Exactly one of `end` and `fail` follows the last portion; no call follows that, or a `cancel`.
 * - The driver is cancelled at most once, and never after its own ending.
 * Limits: the queue is unbounded, the driver bounds it; `push` returns false when the driver should stop.
 */
import type { ByteSource, ByteSourceSink, Ending } from './byte-source.ts'

/** Producer of the bytes of a flow. */
export interface FlowDriver {
  start(): void
  /** Called when the sink takes more again. */
  resume(): void
  /** Called when the sink takes no more for now; a driver that obeys `push` needs none. */
  pause?(): void
  cancel(): void
}

/** The calls by which a driver delivers its bytes. */
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

  /** True if a portion would go directly to the sink. */
  get takes(): boolean {
    return this.#sink !== undefined && !this.#isPaused && !this.#isOver
  }

  /** True if the flow has ended or was cancelled, so that nothing can be pushed. */
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

  /** Passes a portion on as soon as the sink takes it. Returns whether the sink takes more at once. */
  push(portion: Buffer): boolean {
    if (this.hasEnded) return false
    if (this.takes && this.#waiting.length === 0) this.#sink?.data(portion)
    else this.#waiting.push(portion)
    return this.takes
  }

  /** Ends the flow after all pushed portions; with `ending` when it is known. Later calls are no-ops. */
  end(ending?: Ending): void {
    this.#finish((sink) => sink.end(ending))
  }

  /** Fails the flow after all pushed portions. Later calls are no-ops. */
  fail(error: Error): void {
    this.#finish((sink) => sink.fail(error))
  }

  #finish(ending: (sink: ByteSourceSink) => void): void {
    if (this.hasEnded) return
    this.#ending = ending
    this.#flush()
  }

  /** Delivers waiting portions. The sink may pause, resume or cancel during a call. */
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

/** Transformation of another source's bytes. An error that it throws fails the flow. */
export interface ByteTransform {
  data(chunk: Buffer, to: FlowInlet): void
  /** Called before the flow ends; it may end the flow itself. */
  end(to: FlowInlet): void
  /** Called before the flow fails; it may end the flow itself. */
  fail(error: Error, to: FlowInlet): void
}

/** Returns the bytes of `source` after `transform`. The source is cancelled when the transform ends before it. */
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
      // The source's own failure takes precedence.
    }
    this.flow.fail(error)
  }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown))
}
