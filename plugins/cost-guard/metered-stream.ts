import { type ByteSource, type ByteSourceSink, type Ending, StreamReply } from 'turnpike/plugin'
import { costOf, type Estimate } from './estimate.ts'
import type { Hold } from './hold.ts'
import { tokenBound } from './text-bound.ts'

/**
 * DESIGN — a stream that pays as it goes
 *
 *   provider ──► portion ──► would it still be within the hold? ──yes──► client
 *                                   │no
 *                                   └─► the stream waits ──► the hold grows ──► client
 *                                                 └─ it cannot: the reply ends with `max_tokens`
 *
 * Guarantees: no portion goes on before the most that it can have cost is held. What the provider generates behind the
 * portions that have come is held too, by a slack.
 */
export interface MeterOptions {
  readonly hold: Hold
  readonly estimate: Estimate
  /** Told once how the stream has ended, with the most that its output can have had in tokens. */
  readonly onEnd: (ending: Ending, mostTokens: number, isCut: boolean) => void
}

const METERED = new Set(['content_block_start', 'content_block_delta'])
/** Tokens that may be under way when a portion arrives, and the markers of blocks and turns, which have no text. */
const SLACK_TOKENS = 48
const STEP_TOKENS = 256
const STEP_SHARE = 0.25

/** The reply that a client reads instead of `origin`: the same bytes, as far as they are paid. */
export function meteredStream(origin: StreamReply, options: MeterOptions): StreamReply {
  const { status, headers, dialect } = origin
  return new StreamReply({ status, headers, isWhole: true, dialect }, new Meter(origin, options))
}

class Meter implements ByteSource {
  readonly #origin: StreamReply
  readonly #options: MeterOptions
  readonly #end
  #sink: ByteSourceSink | undefined
  #tokens = SLACK_TOKENS
  #waiting: Buffer[] | undefined
  #ending: Ending | undefined
  #isPaused = false
  #isOver = false

  constructor(origin: StreamReply, options: MeterOptions) {
    this.#origin = origin
    this.#options = options
    this.#end = origin.dialect.createEnd()
    origin.onEvent((_name, data) => {
      this.#tokens += tokenBound(textOf(data))
    }, METERED)
    origin.onPortionEvent((name, data) => this.#end.see(name, data))
  }

  start(sink: ByteSourceSink): void {
    this.#sink = sink
    this.#origin.open({ write: (portion) => this.#take(portion), end: (ending) => this.#finish(ending) })
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    if (this.#waiting === undefined) this.#origin.resume()
  }

  cancel(): void {
    this.#origin.cancel()
  }

  #take(portion: Buffer): boolean {
    if (this.#isOver) return false
    if (this.#waiting !== undefined) {
      this.#waiting.push(portion)
      return false
    }
    if (this.#dueNanoUsd <= this.#options.hold.heldNanoUsd) {
      this.#sink?.data(portion)
      return !this.#isPaused
    }
    this.#waiting = [portion]
    void this.#grow()
    return false
  }

  get #dueNanoUsd(): number {
    return costOf(this.#options.estimate, this.#tokens)
  }

  async #grow(): Promise<void> {
    const { hold, estimate } = this.#options
    const step = Math.max(STEP_TOKENS, Math.ceil(this.#tokens * STEP_SHARE))
    // A ledger that does not answer cannot say yes.
    const grow = (tokens: number) => hold.grow(costOf(estimate, tokens)).catch(() => false)
    const isPaid = (await grow(this.#tokens + step)) || (await grow(this.#tokens))
    if (this.#isOver) return
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    if (!isPaid) return this.#cut()
    for (const portion of waiting) this.#sink?.data(portion)
    if (this.#ending !== undefined) this.#finish(this.#ending)
    else if (!this.#isPaused) this.#origin.resume()
  }

  #cut(): void {
    this.#isOver = true
    this.#origin.cancel()
    const usage = { output_tokens: this.#tokens }
    const ending: Ending = { outcome: 'incomplete', usage: this.#origin.usage }
    this.#options.onEnd(ending, this.#tokens, true)
    this.#sink?.data(Buffer.from(this.#end.atLimit(usage)))
    this.#sink?.end(ending)
  }

  #finish(ending: Ending): void {
    if (this.#isOver) return
    // What waits to be paid comes before the end.
    if (this.#waiting !== undefined && ending.outcome !== 'cancelled') {
      this.#ending = ending
      return
    }
    this.#isOver = true
    this.#options.onEnd(ending, this.#tokens, false)
    this.#sink?.end(ending)
  }
}

/** What a model has written in an event: the text of a delta, or all that a block begins with. */
function textOf(data: string): string {
  try {
    const { delta, content_block: block } = JSON.parse(data)
    if (delta === undefined) return JSON.stringify(block ?? '')
    return delta.text ?? delta.partial_json ?? delta.thinking ?? JSON.stringify(delta)
  } catch {
    return data
  }
}
