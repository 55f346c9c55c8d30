import { type Clock, GatewayError, type Log, type ModelClient } from 'turnpike/plugin'
import { type Case, controlOf, promptOf } from './prompt.ts'

/**
 * Verdict of the judge. `unclear`: neither agreed word, or the control failed. The last three: no call was made,
 * because of the day's cap, a cool-down after failures, or too many at once.
 */
export type Verdict = 'same' | 'other' | 'unclear' | 'over-cap' | 'failing' | 'busy'

/** Verdict of a case, and the cost of the judge's replies. */
export interface Judgement {
  readonly verdict: Verdict
  readonly costNanoUsd: number
}

/** Dependencies of a judge. */
export interface JudgeParts {
  readonly model: string
  /** Cap in USD per UTC day. */
  readonly perDayUsd: number
  readonly models: ModelClient
  readonly clock: Clock
  readonly log: Log
}

const MOST_RUNNING = 32
const TIMEOUT_MS = 5000
/** Cool-down after a failure or a reached cap, in milliseconds. */
const COOLDOWN_MS = 30_000
const FAILURES_BEFORE_REST = 3
const MOST_ANSWER_TOKENS = 16

/**
 * DESIGN — the judge
 *
 *   case ──► yes? ──► the control, which must be no ──► same
 *                └──► no ──► other
 *
 * A request waits for it, so it is called with a deadline, through the gateway with its own cap, and has a cool-down
 * after a failure or a reached cap. A reply other than the two agreed words is no verdict.
 */
export class Judge {
  readonly #parts: JudgeParts
  readonly #closing = new AbortController()
  #running = 0
  #failures = 0
  #coolDown: { readonly untilMs: number; readonly verdict: 'over-cap' | 'failing' } | undefined

  constructor(parts: JudgeParts) {
    this.#parts = parts
  }

  /** Decides a case. Rejects only with the signal's reason. */
  async judge(judged: Case, signal: AbortSignal): Promise<Judgement> {
    if (this.#coolDown !== undefined && this.#parts.clock.nowMs() < this.#coolDown.untilMs)
      return { verdict: this.#coolDown.verdict, costNanoUsd: 0 }
    if (this.#running >= MOST_RUNNING) return { verdict: 'busy', costNanoUsd: 0 }
    const bill = { costNanoUsd: 0 }
    this.#running++
    try {
      const verdict = await this.#decide(judged, { bill, signal })
      return { verdict, ...bill }
    } catch (error) {
      signal.throwIfAborted()
      return { verdict: this.#rememberFailure(error), ...bill }
    } finally {
      this.#running--
    }
  }

  /** Aborts in-flight calls. */
  close(): void {
    this.#closing.abort()
  }

  async #decide(judged: Case, asking: Asking): Promise<Verdict> {
    const verdict = await this.#call(judged, asking)
    if (verdict !== 'same') return verdict
    if ((await this.#call(controlOf(judged), asking)) === 'other') return 'same'
    this.#parts.log.warn({ model: this.#parts.model }, 'judge.swayed')
    return 'unclear'
  }

  async #call(judged: Case, { bill, signal }: Asking): Promise<Verdict> {
    const { model, perDayUsd, models } = this.#parts
    const { system, user, yes, no } = promptOf(judged)
    const body = { model, max_tokens: MOST_ANSWER_TOKENS, system, messages: [{ role: 'user', content: user }] }
    const limited = AbortSignal.any([this.#closing.signal, signal, AbortSignal.timeout(TIMEOUT_MS)])
    const answer = await models.ask(body, { pipeline: `cost-guard?per_day=${perDayUsd}`, signal: limited })
    bill.costNanoUsd += answer.costNanoUsd
    this.#failures = 0
    const said = textOf(answer.message)
    if (said === yes) return 'same'
    return said === no ? 'other' : 'unclear'
  }

  #rememberFailure(error: unknown): 'over-cap' | 'failing' {
    const { clock, log, model } = this.#parts
    const isOverCap = error instanceof GatewayError && error.code === 'cost_limit_per_day'
    const verdict = isOverCap ? 'over-cap' : 'failing'
    if (this.#closing.signal.aborted) return verdict
    this.#failures++
    log.warn({ model, verdict, err: error }, 'judge.failed')
    if (isOverCap || this.#failures >= FAILURES_BEFORE_REST) {
      this.#failures = 0
      this.#coolDown = { untilMs: clock.nowMs() + COOLDOWN_MS, verdict }
    }
    return verdict
  }
}

interface Asking {
  readonly bill: { costNanoUsd: number }
  readonly signal: AbortSignal
}

/** Returns the text of a message in the Messages shape, without thinking. */
function textOf(message: unknown): string {
  // The shape is checked below.
  const { content } = (message ?? {}) as { content?: unknown }
  const blocks: { type?: unknown; text?: unknown }[] = Array.isArray(content) ? content : []
  return blocks
    .filter(({ type }) => type === 'text')
    .map(({ text }) => String(text))
    .join('')
    .trim()
}
