import { type Clock, GatewayError, type Log, type PluginServices } from 'turnpike/plugin'
import { textOfMessage } from './answer-text.ts'
import { type Case, controlsOf, promptOf } from './prompt.ts'

/** `unclear`: the judge was asked and did not say, or was talked round. `unasked`: it could not be asked. */
export type Verdict = 'right' | 'wrong' | 'unclear' | 'unasked'

/** Why nothing can be judged just now. */
export type JudgeTrouble = 'over-cap' | 'failing' | 'full' | 'closed'

/** What a judge needs. */
export interface JudgeParts {
  readonly model: string
  /** In USD a UTC day. */
  readonly perDayUsd: number
  readonly models: PluginServices['models']
  readonly clock: Clock
  readonly log: Log
}

const MOST_RUNNING = 2
const MOST_WAITING = 100
const TIMEOUT_MS = 30_000
/** How long it is left alone after it failed, or said that its money is spent. */
const REST_MS = 30_000
const FAILURES_BEFORE_REST = 3
const MOST_ANSWER_TOKENS = 16
/** Longer answers are not judged: their price grows with them, and so does what a judge overlooks. */
const MOST_CHARACTERS = 24_000

interface Job {
  readonly judged: Case
  readonly settle: (verdict: Verdict) => void
}

/**
 * DESIGN — the judge
 *
 *   case ──► queue (100 at most, else dropped) ──► 2 at once ──► yes? ──► two controls, both must be no ──► right
 *                                                            └─► no ──► wrong
 *
 * It works when the client has long had its answer, asks through the gateway with a cap of its own, and rests when it
 * fails or its money is spent. Whatever is not one of the two words that were agreed on is no verdict.
 */
export class Judge {
  readonly #parts: JudgeParts
  readonly #waiting: Job[] = []
  readonly #closing = new AbortController()
  #running = 0
  #failures = 0
  #rest: { readonly untilMs: number; readonly trouble: JudgeTrouble } | undefined

  constructor(parts: JudgeParts) {
    this.#parts = parts
  }

  /** Why a case would not be judged now; `undefined` when it would. */
  get trouble(): JudgeTrouble | undefined {
    if (this.#closing.signal.aborted) return 'closed'
    if (this.#rest !== undefined && this.#parts.clock.nowMs() < this.#rest.untilMs) return this.#rest.trouble
    return this.#waiting.length >= MOST_WAITING ? 'full' : undefined
  }

  /** Judges a case when its turn comes. Never rejects. */
  judge(judged: Case): Promise<Verdict> {
    if (this.trouble !== undefined) return Promise.resolve('unasked')
    if (Object.values(judged).join('').length > MOST_CHARACTERS) return Promise.resolve('unclear')
    return new Promise((settle) => {
      this.#waiting.push({ judged, settle })
      this.#startNext()
    })
  }

  /** Ends what runs, and leaves what waits unasked. */
  close(): void {
    this.#closing.abort()
    for (const { settle } of this.#waiting.splice(0)) settle('unasked')
  }

  #startNext(): void {
    if (this.#running >= MOST_RUNNING) return
    const job = this.#waiting.shift()
    if (job === undefined) return
    this.#running++
    void this.#decide(job.judged).then((verdict) => {
      this.#running--
      job.settle(verdict)
      this.#startNext()
    })
  }

  async #decide(judged: Case): Promise<Verdict> {
    if (this.trouble === 'over-cap' || this.trouble === 'failing') return 'unasked'
    try {
      const verdict = await this.#ask(judged)
      if (verdict !== 'right') return verdict
      const controls = await Promise.all(controlsOf(judged).map((control) => this.#ask(control)))
      if (controls.every((control) => control === 'wrong')) return 'right'
      this.#parts.log.warn({ model: this.#parts.model }, 'judge.swayed')
      return 'unclear'
    } catch (error) {
      this.#rememberFailure(error)
      return 'unasked'
    }
  }

  async #ask(judged: Case): Promise<Verdict> {
    const { model, perDayUsd, models } = this.#parts
    const { system, user, yes, no } = promptOf(judged)
    const body = { model, max_tokens: MOST_ANSWER_TOKENS, system, messages: [{ role: 'user', content: user }] }
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(TIMEOUT_MS)])
    const { message } = await models.ask(body, { pipeline: `cost-guard?per_day=${perDayUsd}`, signal })
    this.#failures = 0
    // Its shape is looked at there.
    const said = textOfMessage(message as { content?: unknown } | null)?.trim()
    if (said === yes) return 'right'
    return said === no ? 'wrong' : 'unclear'
  }

  #rememberFailure(error: unknown): void {
    if (this.#closing.signal.aborted) return
    const { clock, log, model } = this.#parts
    const isOverCap = error instanceof GatewayError && error.code === 'cost_limit_per_day'
    const trouble = isOverCap ? 'over-cap' : 'failing'
    this.#failures++
    log.warn({ model, trouble, err: error }, 'judge.failed')
    if (!isOverCap && this.#failures < FAILURES_BEFORE_REST) return
    this.#failures = 0
    this.#rest = { untilMs: clock.nowMs() + REST_MS, trouble }
  }
}
