import type { RequestDocument } from 'turnpike/plugin'
import { type Ending, Flow, type FlowDriver, StreamReply } from 'turnpike/plugin/bytes'
import type { Usage } from 'turnpike/plugin/spend'
import { costOf, type Estimate } from 'turnpike/plugin/spend'
import { DeltaBound } from './delta-bound.ts'
import { hasInput } from './input.ts'
import type { RequestHolds } from './request-holds.ts'
import { hasFinished, textOf } from './stream-text.ts'
import { tokenBound } from './text-bound.ts'

/**
 * DESIGN — metering a stream against its hold
 *
 *   provider ──► portion ──► cost still within the hold? ──yes──► client
 *                                   │no
 *                                   └─► the stream waits ──► the hold grows ──► client
 *                                                 └─ it cannot: the reply ends with `max_tokens`
 *
 * Guarantee: the stream continues only while the most it can have cost is held; a slack covers tokens in flight at the
 * provider. A reply that has ended is not cut: nothing can be saved any more. Limits: the output that a provider has
 * generated when it is stopped is unknown. A cut stream is charged for the received output, never more than the hold.
 */
export interface MeterOptions {
  /** Request as the client sent it, whose dialect and options apply to an early end. */
  readonly request: RequestDocument
  readonly holds: Pick<RequestHolds, 'covers' | 'grow'>
  /** Estimate of which the hold was made. */
  readonly estimate: Estimate
  /** Returns the estimate by weight, which may be lower. */
  readonly weigh: () => Estimate
  /** Returns the cost of an input with these counts, in nano-USD. */
  readonly inputOf: (usage: Usage) => number
  /** Called once at the end of the stream. */
  readonly onEnd: (end: MeterEnd) => void
}

/** End of a metered stream, and the most that it can have cost. */
export interface MeterEnd {
  readonly ending: Ending
  /** Output tokens. */
  readonly mostTokens: number
  readonly mostNanoUsd: number
  readonly isCut: boolean
}

const METERED = new Set(['message_start', 'content_block_start', 'content_block_delta', 'message_delta'])
/** Tokens that may be in flight when a portion arrives, and the markers of blocks and messages, which have no text. */
const SLACK_TOKENS = 48
const STEP_TOKENS = 256
const STEP_SHARE = 0.25

/** Returns the reply to send instead of `origin`: the same bytes, as far as they are covered by the hold. */
export function meteredStream(origin: StreamReply, options: MeterOptions): StreamReply {
  const { status, headers, dialect } = origin
  return new StreamReply({ status, headers, isWhole: true, dialect }, new Meter(origin, options).flow)
}

class Meter implements FlowDriver {
  readonly flow = new Flow(this)
  readonly #origin: StreamReply
  readonly #options: MeterOptions
  readonly #end
  readonly #deltas = new DeltaBound()
  #estimate: Estimate
  /** Cost of the input by the provider's count. */
  #countedInput: { readonly inputNanoUsd: number } | undefined
  /** Upper bound on the tokens received. */
  #tokens = SLACK_TOKENS
  /** Portions received but not yet covered by the hold. */
  #waiting: Buffer[] | undefined
  #ending: Ending | undefined
  /** Set once the model has written its last token. */
  #isAnswered = false
  #isOver = false
  #isCancelled = false

  constructor(origin: StreamReply, options: MeterOptions) {
    this.#origin = origin
    this.#options = options
    this.#estimate = options.estimate
    this.#end = origin.dialect.createEnd(options.request)
    // Both are called before the portion with the event arrives.
    origin.onOwnEvent((name, source, start, end) => this.#end.see(name, source, start, end))
    origin.onEventBytes((name, source, start, end) => this.#weigh(name, source, start, end), METERED)
  }

  start(): void {
    this.#origin.open({ write: (portion) => this.#take(portion), end: (ending) => this.#finish(ending) })
  }

  resume(): void {
    if (this.#waiting === undefined) this.#origin.resume()
  }

  cancel(): void {
    this.#isCancelled = true
    this.#origin.cancel()
    // An unopened stream sends no end event.
    this.#finish({ outcome: 'cancelled', usage: this.#origin.usage })
  }

  #weigh(name: string, source: Buffer, start: number, end: number): void {
    if (name === 'content_block_delta') this.#tokens += this.#deltas.tokens(source, start, end)
    else if (name === 'content_block_start') this.#tokens += tokenBound(textOf(source.toString('utf8', start, end)))
    else if (name === 'message_start') this.#weighInput(this.#origin.usage)
    else this.#isAnswered = true
  }

  /** Replaces the estimate by the provider's count of the input, which is closer to the actual cost. */
  #weighInput(usage: Usage | undefined): void {
    if (!hasInput(usage)) return
    this.#countedInput = { inputNanoUsd: this.#options.inputOf(usage) }
    this.#estimate = { ...this.#estimate, ...this.#countedInput }
  }

  /** Replaces an estimate by size, before more is held and before received output is charged. */
  #refine(): void {
    this.#estimate = { ...this.#options.weigh(), ...this.#countedInput }
  }

  #take(portion: Buffer): boolean {
    if (this.#isOver) return false
    if (this.#waiting !== undefined) {
      this.#waiting.push(portion)
      return false
    }
    if (this.#isPaid) return this.flow.push(portion)
    this.#waiting = [portion]
    void this.#grow()
    return false
  }

  get #mostNanoUsd(): number {
    return costOf(this.#estimate, this.#tokens)
  }

  get #isPaid(): boolean {
    return this.#isAnswered || this.#options.holds.covers(this.#estimate, this.#tokens)
  }

  async #grow(): Promise<void> {
    this.#refine()
    // More may arrive while the ledger is busy, and must be covered as well.
    while (!this.#isPaid && this.#ending === undefined) {
      const step = Math.max(STEP_TOKENS, Math.ceil(this.#tokens * STEP_SHARE))
      const isHeld = (await this.#hold(this.#tokens + step)) || (await this.#hold(this.#tokens))
      if (this.#isOver) return
      if (!isHeld) break
    }
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    const mayGoOn = this.#isPaid || this.#ending !== undefined || hasFinished(waiting, this.#origin.dialect)
    if (!mayGoOn) return this.#cut(waiting)
    for (const portion of waiting) this.flow.push(portion)
    if (this.#ending !== undefined) this.#finish(this.#ending)
    else if (this.flow.takes) this.#origin.resume()
  }

  /** Raises the hold; a ledger failure counts as a refusal. */
  #hold(tokens: number): Promise<boolean> {
    return this.#options.holds.grow(this.#estimate, tokens).catch(() => false)
  }

  /** Passes on what was received, since it is generated and billed, then ends the reply as the provider would. */
  #cut(waiting: readonly Buffer[]): void {
    this.#isOver = true
    this.#origin.cancel()
    for (const portion of waiting) this.flow.push(portion)
    const { usage } = this.#origin
    const ending: Ending = { outcome: 'incomplete', usage }
    this.#notify(ending, true)
    const input = usage === undefined ? { input_tokens: this.#estimate.inputTokens } : {}
    this.flow.push(Buffer.from(this.#end.atLimit({ ...input, output_tokens: this.#tokens - SLACK_TOKENS })))
    this.flow.end(ending)
  }

  #finish(ending: Ending): void {
    if (this.#isOver) return
    // Portions that wait for the hold precede the end.
    if (this.#waiting !== undefined && !this.#isCancelled) {
      this.#ending = ending
      return
    }
    this.#isOver = true
    // A client that disconnects while the last portion waits had a whole reply generated.
    this.#notify(this.#ending ?? ending, false)
    this.flow.end(ending)
  }

  #notify(ending: Ending, isCut: boolean): void {
    if (ending.outcome !== 'complete') this.#refine()
    const { onEnd } = this.#options
    onEnd({ ending, isCut, mostTokens: this.#tokens, mostNanoUsd: this.#mostNanoUsd })
  }
}
