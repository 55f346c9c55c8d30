/**
 * DESIGN — the onion
 *
 *   step 1 ──► step 2 ──► … ──► upstream (the provider)
 *
 * Each step is a Koa middleware. The rules it must keep are enforced here: `next()` at most once; downstream awaited
 * before it resolves; it replies or calls `next()`; it does one of the two within its time budget.
 *
 * When a step breaks a rule, throws or hangs, its `onError` decides.
 * - `bypass`: the request continues exactly as if the step were not there: its edits and headers are undone, its handle on
 *   the exchange is revoked, so that it can change nothing later. After `next()` there is nothing left to run:
 *   the reply from downstream is kept.
 * - `refuse`: the request fails closed with 503.
 * A `GatewayError` is a reply, not a failure, and always goes to the client. An error of downstream is passed through.
 * A step that fails so during `next()` abandons it: a later reply of downstream is cancelled.
 *
 * Between two steps of a large request the others have a turn of the event loop.
 */
import { performance } from 'node:perf_hooks'
import { setImmediate as giveWay } from 'node:timers/promises'
import { GatewayError } from '../core/errors.ts'
import type { Log } from '../core/ports/log.ts'
import type { Exchange } from '../core/request/exchange.ts'
import type { StepTrace } from '../core/telemetry/traces.ts'
import type { PluginMiddleware } from '../plugin/contract.ts'
import type { PipelineContext } from './context.ts'
import { saved, savedAnswer } from './saved-answer.ts'

/** A middleware bound to its place in a pipeline. */
export interface BoundStep {
  readonly name: string
  readonly onError: 'bypass' | 'refuse'
  readonly middleware: PluginMiddleware
  enter(): void
  leave(): void
}

/** Reading such a body takes a step milliseconds: other requests have a turn between two steps. */
const LARGE_BYTES = 1024 * 1024

/** Inputs of the onion. */
export interface ComposeOptions {
  readonly steps: readonly BoundStep[]
  readonly upstream: (ctx: PipelineContext) => Promise<void>
  /** Longest time until a step calls `next()` or replies, in milliseconds. */
  readonly stepTimeoutMs: number
  readonly log: Log
}

/** Joins the steps into one function that runs them around `upstream`. */
export function compose(options: ComposeOptions): (ctx: PipelineContext) => Promise<void> {
  return (ctx) => {
    const { exchange } = ctx.state
    const isLarge = exchange.client.document.bytes.length > LARGE_BYTES
    return runFrom({ options, ctx, exchange, isLarge }, 0).run()
  }
}

/** One request's passage through the onion. */
interface Passage {
  readonly options: ComposeOptions
  readonly ctx: PipelineContext
  /** The gateway's own handle on the exchange, which cannot be revoked. */
  readonly exchange: Exchange
  readonly isLarge: boolean
}

/** The run of the onion from one place on. */
interface Run {
  run(): Promise<void>
  /** Abandons it: the request continues, or ends, without it, and it can change nothing from now on. */
  abandon(): void
}

function runFrom(passage: Passage, index: number): Run {
  const step = passage.options.steps[index]
  return step === undefined ? new InnermostRun(passage) : new StepRun(passage, index, step)
}

/** The provider's run for one request. */
class InnermostRun implements Run {
  readonly #passage: Passage
  readonly #exchange: Exchange

  constructor(passage: Passage) {
    this.#passage = passage
    this.#exchange = passage.exchange.forStep()
  }

  run(): Promise<void> {
    this.#passage.ctx.state.exchange = this.#exchange
    return this.#passage.options.upstream(this.#passage.ctx)
  }

  abandon(): void {
    this.#exchange.revoke()
  }
}

/** One step's run for one request. */
class StepRun implements Run {
  readonly #passage: Passage
  readonly #ctx: PipelineContext
  readonly #index: number
  readonly #step: BoundStep
  readonly #trace: StepTrace
  readonly #exchange: Exchange
  #undo: () => void
  /** The caller's signal, not one that the step replaced it with. */
  readonly #signal: AbortSignal
  #inner: Run | undefined
  #downstream: Promise<void> | undefined
  #downstreamState: 'idle' | 'running' | 'done' | 'failed' = 'idle'
  #downstreamError: unknown
  #isOver = false
  #isAbandoned = false
  #resumedAtMs = 0
  #isPaused = false
  #timer: NodeJS.Timeout | undefined
  #expire: ((error: Error) => void) | undefined

  constructor(passage: Passage, index: number, step: BoundStep) {
    const { ctx } = passage
    this.#passage = passage
    this.#ctx = ctx
    this.#index = index
    this.#step = step
    this.#trace = { module: step.name, action: 'ran', durationMs: 0 }
    this.#undo = saved(ctx)
    this.#signal = passage.exchange.signal
    this.#exchange = passage.exchange.forStep(this.#trace)
    this.#exchange.onTimeoutPause = this.#pauseTimeout
    this.#exchange.onRewriteFailure = this.#failRewriting
  }

  async run(): Promise<void> {
    this.#passage.exchange.record(this.#trace)
    this.#ctx.state.exchange = this.#exchange
    this.#step.enter()
    this.#resumedAtMs = performance.now()
    try {
      await this.#runMiddleware()
      this.#assertRulesKept()
    } catch (error) {
      await this.#handle(error)
    } finally {
      this.#stopClock()
      this.#isOver = true
      this.#leave()
      if (!this.#isAbandoned) this.#ctx.state.exchange = this.#passage.exchange
    }
  }

  abandon(): void {
    this.#isAbandoned = true
    this.#exchange.revoke()
    this.#inner?.abandon()
  }

  async #runMiddleware(): Promise<void> {
    const running = this.#step.middleware(this.#ctx, this.#next)
    if (this.#downstreamState !== 'idle') return running
    // Only a step that did not continue synchronously can hang before `next()`: others need no timer.
    const { promise: expired, reject } = Promise.withResolvers<never>()
    this.#expire = reject
    if (!this.#isPaused) this.#startTimer()
    try {
      await Promise.race([running, expired])
    } finally {
      this.#expire = undefined
      clearTimeout(this.#timer)
    }
  }

  #next = (): Promise<void> => {
    const isLate = this.#isOver || this.#isAbandoned
    if (isLate || this.#downstreamState !== 'idle') {
      const rejected = Promise.reject(
        new Error(`module ${this.#step.name} called next() ${isLate ? 'too late' : 'twice'}`),
      )
      rejected.catch(() => {})
      return rejected
    }
    clearTimeout(this.#timer)
    this.#expire = undefined
    this.#stopClock()
    this.#downstreamState = 'running'
    this.#downstream = this.#runDownstream()
    this.#downstream.catch(() => {})
    return this.#downstream
  }

  async #runDownstream(): Promise<void> {
    try {
      if (this.#passage.isLarge) await giveWay()
      this.#inner = runFrom(this.#passage, this.#index + 1)
      await this.#inner.run()
      this.#downstreamState = 'done'
      this.#undo = savedAnswer(this.#ctx)
    } catch (error) {
      this.#downstreamState = 'failed'
      this.#downstreamError = error
      throw error
    } finally {
      this.#resumedAtMs = performance.now()
      if (!this.#isOver) this.#ctx.state.exchange = this.#exchange
    }
  }

  #assertRulesKept(): void {
    if (this.#downstreamState === 'running')
      throw new Error('resolved before next() had finished: is an await missing?')
    if (this.#downstreamState === 'idle' && !hasReply(this.#ctx)) throw new Error('neither answered nor called next()')
  }

  async #handle(error: unknown): Promise<void> {
    this.#exchange.revoke()
    if (error instanceof GatewayError || this.#signal.aborted || this.#isAbandoned) {
      if (this.#downstreamState === 'running') this.#inner?.abandon()
      throw error
    }
    if (this.#downstreamState === 'running') await this.#downstream?.catch(() => {})
    if (this.#downstreamState === 'failed') throw this.#downstreamError
    this.#warn(error)
    if (this.#step.onError === 'refuse') {
      throw new GatewayError(
        'service_unavailable',
        `Plugin ${this.#step.name} failed, and requests do not pass without it.`,
        { cause: error },
      )
    }
    this.#trace.action = 'bypassed'
    this.#undo()
    if (this.#downstreamState === 'done') return
    this.#isOver = true
    this.#stopClock()
    try {
      this.#inner = runFrom(this.#passage, this.#index + 1)
      await this.#inner.run()
    } finally {
      this.#resumedAtMs = performance.now()
    }
  }

  /** Handles a failed rewriting of a stream after the step has ended: it can be bypassed only while everything passed on is unchanged. */
  #failRewriting = (error: unknown, canGoOn: boolean): Error | undefined => {
    this.#warn(error)
    const isBypassed = this.#step.onError === 'bypass' && canGoOn
    this.#trace.action = isBypassed ? 'bypassed' : 'failed'
    return isBypassed ? undefined : new Error(`module ${this.#step.name} failed`, { cause: error })
  }

  #warn(error: unknown): void {
    const { name, onError } = this.#step
    this.#passage.options.log.warn({ module: name, onError, requestId: this.#exchange.id, err: error }, 'module.failed')
  }

  /** Leaves the plugin, for a stream once that has ended. */
  #leave(): void {
    const { reply } = this.#passage.exchange
    if (reply?.kind === 'stream') void reply.ended.then(() => this.#step.leave())
    else this.#step.leave()
  }

  #startTimer(): void {
    this.#timer = setTimeout(() => {
      this.#expire?.(new Error(`neither answered nor called next() within ${this.#passage.options.stepTimeoutMs} ms`))
    }, this.#passage.options.stepTimeoutMs)
  }

  /** Pauses the time budget of a step that declares a long wait. */
  #pauseTimeout = (isWaiting: boolean): void => {
    this.#isPaused = isWaiting
    if (this.#expire === undefined) return
    clearTimeout(this.#timer)
    if (!isWaiting) this.#startTimer()
  }

  #stopClock(): void {
    if (this.#downstreamState === 'running') return
    this.#trace.durationMs += performance.now() - this.#resumedAtMs
  }
}

function hasReply(ctx: PipelineContext): boolean {
  return ctx.state.exchange.reply !== undefined || (ctx.body !== undefined && ctx.body !== null)
}
