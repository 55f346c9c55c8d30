import type { Ending } from '../reply/byte-source.ts'
import { Flow, type FlowDriver } from '../reply/flow.ts'
import { StreamReply } from '../reply/reply.ts'
import type { ReplyDialect } from '../reply/reply-dialect.ts'
import type { Rewriter } from './rewriter.ts'

/**
 * Called with the error that a rewriter has thrown. Returns the error with which the stream ends, or `undefined` to
 * continue it unchanged, which is only possible while nothing rewritten has passed on.
 */
export type OnRewriteFailure = (error: unknown, canGoOn: boolean) => Error | undefined

/** Options of `rewrittenStream`. */
export interface RewriteOptions {
  readonly rewriter: Rewriter
  readonly onFailure: OnRewriteFailure
  readonly headers: StreamReply['headers']
  /** Shape of the rewritten stream. */
  readonly dialect: ReplyDialect | undefined
}

/** Returns the reply to read instead of `origin`. Usage and ending are those of `origin`. */
export function rewrittenStream(origin: StreamReply, options: RewriteOptions): StreamReply {
  const { headers, dialect } = options
  return new StreamReply(
    { status: origin.status, headers, isWhole: true, dialect },
    new RewrittenStream(origin, options).flow,
  )
}

class RewrittenStream implements FlowDriver {
  readonly flow = new Flow(this)
  readonly #origin: StreamReply
  readonly #rewriter: Rewriter
  readonly #onFailure: OnRewriteFailure
  #hasGivenUp = false

  constructor(origin: StreamReply, { rewriter, onFailure }: RewriteOptions) {
    this.#origin = origin
    this.#rewriter = rewriter
    this.#onFailure = onFailure
  }

  start(): void {
    this.#origin.open({ write: (portion) => this.#take(portion), end: (ending) => this.#end(ending) })
  }

  resume(): void {
    this.#origin.resume()
  }

  cancel(): void {
    this.#origin.cancel()
  }

  #take(portion: Buffer): boolean {
    if (this.flow.hasEnded) return false
    if (this.#origin.isTorn && !this.#hasGivenUp) this.#giveUp(new RangeError('an event is too large to be rewritten'))
    this.#pass(() => this.#rewriter.take(portion))
    return this.flow.takes
  }

  #end(ending: Ending): void {
    if (ending.outcome !== 'cancelled') this.#pass(() => this.#rewriter.finish())
    this.flow.end(ending)
  }

  #pass(work: () => Buffer): void {
    if (this.flow.hasEnded) return
    try {
      this.#push(work())
    } catch (error) {
      this.#giveUp(error)
    }
  }

  #giveUp(cause: unknown): void {
    this.#hasGivenUp = true
    const error = this.#onFailure(cause, !this.#rewriter.hasChanged)
    const held = this.#rewriter.giveUp()
    if (error === undefined) {
      this.#push(held)
      return
    }
    this.flow.end({ outcome: 'incomplete', usage: this.#origin.usage, error })
    this.#origin.cancel()
  }

  #push(bytes: Buffer): void {
    if (bytes.length > 0) this.flow.push(bytes)
  }
}
