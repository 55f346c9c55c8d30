import { type Clock, GatewayError, type Log, type ModelClient } from 'turnpike/plugin'
import { type Case, controlOf, promptOf } from './prompt.ts'

/**
 * `unclear`: the judge gave neither word, or was talked round. The others could not be asked: over the day's cap, left
 * alone after failures, too many at once.
 */
export type Verdict = 'same' | 'other' | 'unclear' | 'over-cap' | 'failing' | 'busy'

/** What came of a case, and what the judge's answers cost. */
export interface Judgement {
  readonly verdict: Verdict
  readonly costNanoUsd: number
}

/** What a judge needs. */
export interface JudgeParts {
  readonly model: string
  /** In USD a UTC day. */
  readonly perDayUsd: number
  readonly models: ModelClient
  readonly clock: Clock
  readonly log: Log
}

const MOST_RUNNING = 32
const TIMEOUT_MS = 5000
/** How long it is left alone after it failed, or was over its cap. */
const REST_MS = 30_000
const FAILURES_BEFORE_REST = 3
const MOST_ANSWER_TOKENS = 16

/**
 * DESIGN — the judge
 *
 *   case ──► yes? ──► the control, which must be no ──► same
 *                └──► no ──► other
 *
 * A request waits for it, so it is asked with a deadline, through the gateway with a cap of its own, and rests when it
 * fails or its money is spent. Whatever is not one of the two words that were agreed on is no verdict.
 */
export class Judge {
  readonly #parts: JudgeParts
  readonly #closing = new AbortController()
  #running = 0
  #failures = 0
  #rest: { readonly untilMs: number; readonly verdict: 'over-cap' | 'failing' } | undefined

  constructor(parts: JudgeParts) {
    this.#parts = parts
  }

  /** Decides a case. Rejects only with the signal's reason. */
  async judge(judged: Case, signal: AbortSignal): Promise<Judgement> {
    if (this.#rest !== undefined && this.#parts.clock.nowMs() < this.#rest.untilMs)
      return { verdict: this.#rest.verdict, costNanoUsd: 0 }
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

  /** Ends what runs. */
  close(): void {
    this.#closing.abort()
  }

  async #decide(judged: Case, asking: Asking): Promise<Verdict> {
    const verdict = await this.#ask(judged, asking)
    if (verdict !== 'same') return verdict
    if ((await this.#ask(controlOf(judged), asking)) === 'other') return 'same'
    this.#parts.log.warn({ model: this.#parts.model }, 'judge.swayed')
    return 'unclear'
  }

  async #ask(judged: Case, { bill, signal }: Asking): Promise<Verdict> {
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
      this.#rest = { untilMs: clock.nowMs() + REST_MS, verdict }
    }
    return verdict
  }
}

interface Asking {
  readonly bill: { costNanoUsd: number }
  readonly signal: AbortSignal
}

/** What a message in the Messages shape says, without what the model thought. */
function textOf(message: unknown): string {
  // Its shape is looked at here.
  const { content } = (message ?? {}) as { content?: unknown }
  const blocks: { type?: unknown; text?: unknown }[] = Array.isArray(content) ? content : []
  return blocks
    .filter(({ type }) => type === 'text')
    .map(({ text }) => String(text))
    .join('')
    .trim()
}
